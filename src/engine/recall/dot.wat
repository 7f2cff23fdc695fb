;; The source of the bytes in simd.ts. To build them: wat2wasm --enable-simd dot.wat
(module
  (import "m" "memory" (memory 1))
  ;; out[i] = dot(row i, query): rows of `bytes` bytes (a multiple of 32) one after the other
  (func (export "dot") (param $rows i32) (param $bytes i32) (param $query i32) (param $from i32) (param $out i32)
    (local $i i32) (local $a v128) (local $b v128)
    (block $done
      (loop $row
        (br_if $done (i32.eqz (local.get $rows)))
        (local.set $a (v128.const f32x4 0 0 0 0))
        (local.set $b (v128.const f32x4 0 0 0 0))
        (local.set $i (i32.const 0))
        (loop $part
          (local.set $a (f32x4.add (local.get $a) (f32x4.mul
            (v128.load (i32.add (local.get $from) (local.get $i)))
            (v128.load (i32.add (local.get $query) (local.get $i))))))
          (local.set $b (f32x4.add (local.get $b) (f32x4.mul
            (v128.load offset=16 (i32.add (local.get $from) (local.get $i)))
            (v128.load offset=16 (i32.add (local.get $query) (local.get $i))))))
          (br_if $part (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 32))) (local.get $bytes))))
        (local.set $a (f32x4.add (local.get $a) (local.get $b)))
        (f32.store (local.get $out) (f32.add
          (f32.add (f32x4.extract_lane 0 (local.get $a)) (f32x4.extract_lane 1 (local.get $a)))
          (f32.add (f32x4.extract_lane 2 (local.get $a)) (f32x4.extract_lane 3 (local.get $a)))))
        (local.set $from (i32.add (local.get $from) (local.get $bytes)))
        (local.set $out (i32.add (local.get $out) (i32.const 4)))
        (local.set $rows (i32.sub (local.get $rows) (i32.const 1)))
        (br $row)))))
