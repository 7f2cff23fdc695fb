;; The source of the bytes in vector-codes.ts. To build them: wat2wasm --enable-simd dot.wat
(module
  (import "m" "memory" (memory 1))
  ;; out[i] = dot(codes of row i, query) * scales[i] * scale: rows of `bytes` 8-bit codes (a multiple of 16), one after the other;
  ;; the query as 16-bit codes; scales and out as 32-bit floats.
  (func (export "dot") (param $rows i32) (param $bytes i32) (param $query i32) (param $from i32) (param $scales i32) (param $scale f32) (param $out i32)
    (local $i i32) (local $q i32) (local $a v128) (local $b v128)
    (block $done
      (loop $row
        (br_if $done (i32.eqz (local.get $rows)))
        (local.set $a (v128.const i32x4 0 0 0 0))
        (local.set $b (v128.const i32x4 0 0 0 0))
        (local.set $i (i32.add (local.get $from) (local.get $bytes)))
        (local.set $q (local.get $query))
        (loop $part
          (local.set $a (i32x4.add (local.get $a) (i32x4.dot_i16x8_s
            (v128.load8x8_s (local.get $from)) (v128.load (local.get $q)))))
          (local.set $b (i32x4.add (local.get $b) (i32x4.dot_i16x8_s
            (v128.load8x8_s offset=8 (local.get $from)) (v128.load offset=16 (local.get $q)))))
          (local.set $a (i32x4.add (local.get $a) (i32x4.dot_i16x8_s
            (v128.load8x8_s offset=16 (local.get $from)) (v128.load offset=32 (local.get $q)))))
          (local.set $b (i32x4.add (local.get $b) (i32x4.dot_i16x8_s
            (v128.load8x8_s offset=24 (local.get $from)) (v128.load offset=48 (local.get $q)))))
          (local.set $a (i32x4.add (local.get $a) (i32x4.dot_i16x8_s
            (v128.load8x8_s offset=32 (local.get $from)) (v128.load offset=64 (local.get $q)))))
          (local.set $b (i32x4.add (local.get $b) (i32x4.dot_i16x8_s
            (v128.load8x8_s offset=40 (local.get $from)) (v128.load offset=80 (local.get $q)))))
          (local.set $a (i32x4.add (local.get $a) (i32x4.dot_i16x8_s
            (v128.load8x8_s offset=48 (local.get $from)) (v128.load offset=96 (local.get $q)))))
          (local.set $b (i32x4.add (local.get $b) (i32x4.dot_i16x8_s
            (v128.load8x8_s offset=56 (local.get $from)) (v128.load offset=112 (local.get $q)))))
          (local.set $q (i32.add (local.get $q) (i32.const 128)))
          (br_if $part (i32.lt_u (local.tee $from (i32.add (local.get $from) (i32.const 64))) (local.get $i))))
        (local.set $a (i32x4.add (local.get $a) (local.get $b)))
        (f32.store (local.get $out) (f32.mul
          (f32.convert_i32_s (i32.add
            (i32.add (i32x4.extract_lane 0 (local.get $a)) (i32x4.extract_lane 1 (local.get $a)))
            (i32.add (i32x4.extract_lane 2 (local.get $a)) (i32x4.extract_lane 3 (local.get $a)))))
          (f32.mul (f32.load (local.get $scales)) (local.get $scale))))
        (local.set $scales (i32.add (local.get $scales) (i32.const 4)))
        (local.set $out (i32.add (local.get $out) (i32.const 4)))
        (local.set $rows (i32.sub (local.get $rows) (i32.const 1)))
        (br $row)))))
