// Written by scripts/statements/fit.ts; docs/results/statements.md says on what.

/** The weights of signs, parted by semicolons: name (a blank is an underscore), keep, intent, drop. */
export const SIGN_WEIGHTS = `
chat -0.17 -0.04 0.16; about:speaker -0.03 0.25 -0.15; role:root 0.15 0.21 -0.22; chat:speaker -0.12 0.37 -0.19;
progressive -0.47 0.6 -0.13; present 0.47 -0.35 -0.15; verb:think -0.84 0.92 -0.08; inner:try -0.13 0.19 -0.06;
name -0.03 0.23 -0.17; words 0.28 0.35 -0.44; message -0.24 -0.24 0.32; claim:relation:think_of -0.08 0.03 0.05;
claim:of-user -0.1 0.11 -0.01; claim:same-predicate 0.07 0.07 -0.08; claim:one-phrase -0.04 -0.13 0.16;
claim:role:advcl -0.21 0.23 -0.02; source:rules 0.08 -0.38 0.23; bias -0.08 -0.38 0.29; perfect 0.49 -0.8 0.27;
verb:do 0.01 -0.24 0.23; has:obj 0.51 -0.7 0.1; obj-det:NNS 0.35 -0.21 -0.15; has:obl 0.33 -0.13 -0.18;
obl:saturdays 0.02 0 -0.02; obl-det:NAME 0.48 -0.08 -0.39; obl-with:on 0.3 0 -0.3; claim:relation:do -0.07 -0.01 0.09;
claim:role:obj 0.04 0.22 -0.22; claim:qualified 0.09 0.08 -0.14; source:trees -0.17 -0.21 0.27;
role:conj -0.05 -0.11 0.16; obj-det:a 0.03 0.11 -0.13; modal:'d -0.45 0.29 0.17; verb:like -0.1 -0.17 0.27;
inner:ask -0.02 -0.12 0.14; has:xcomp -0.15 0.57 -0.4; claim:role:obl -0.01 0.07 -0.06; role:ccomp -0.34 -0.07 0.41;
modal:'ll -0.8 0.82 -0.01; verb:start 0.04 -0.07 0.03; under:think -0.4 0.65 -0.24;
claim:relation:start_by 0 -0.02 0.02; claim:ends-before -0.28 -0.14 0.41; verb:have -0.04 -0.18 0.22;
obl-det:my -0.02 -0.25 0.28; obl-with:of 0.07 0.02 -0.09; mentions-own 0.31 0 -0.3;
claim:starts-elsewhere -0.23 -0.35 0.58; claim:relation:have 0.06 -0.18 0.12;
claim:relation:used_to_have 0.09 -0.01 -0.08; claim:of-owned 0.2 -0.32 0.13; claim:other-subject 0.17 0.07 -0.23;
claim:other-predicate 0.03 -0.33 0.31; be:ADJ 0.08 0.12 -0.2; verb:sure -0.22 -0.19 0.41; has:ccomp 0.2 -0.28 0.08;
unresolved -0.53 -0.56 0.95; claim:cut -0.13 -0.04 0.17; modal:can -0.25 -0.22 0.47; verb:find 0.29 -0.11 -0.17;
under:sure -0.19 -0.11 0.3; obj:things -0.16 -0.03 0.19; obj-det:some 0.08 0.1 -0.19; role:advcl 0.15 -0.13 -0.02;
verb:include -0.08 -0.01 0.08; opener:so -0.09 -0.3 0.39; obj:them -0.17 -0.02 0.19; obj-det:PRP -0.13 -0.17 0.29;
obl-det:the 0.02 0.17 -0.19; obl-with:in 0.12 -0.18 0.06; claim:no-clause 0.01 -0.19 0.19;
about:person 0.12 -0.09 -0.03; role:acl -0.29 -0.11 0.4; chat:person 0.16 -0.08 -0.08; verb:make 0.04 -0.3 0.26;
short -0.14 -0.27 0.42; obj:idea 0 -0.25 0.24; obj-det:the -0.2 -0.03 0.23; claim:relation:like -0.14 -0.15 0.29;
inner:research -0.05 -0.04 0.09; number 0.16 0.02 -0.17; claim:role:conj -0.31 -0.28 0.58; inner:look -0.06 0.12 -0.06;
opener:also 0.08 0.11 -0.19; claim:ends-after 0.08 0.11 -0.19; verb:interested -0.06 0.53 -0.46;
inner:learn -0.09 0.19 -0.1; claim:relation:be_interested_in -0.04 0.19 -0.14; inner:watch 0.01 -0.05 0.04;
time-phrase -0.04 0.02 0.01; past 0.44 -0.97 0.46; opener:just 0.37 -0.14 -0.23; obl:way 0.12 0.05 -0.17;
obl-with:by -0.12 0.09 0.03; verb:love 0.14 0.04 -0.18; opener:far -0.23 -0.03 0.26; obj-det:this 0.02 -0.02 0;
verb:give 0.21 -0.06 -0.15; opener:definitely -0.14 0.1 0.04; obj-det:DT -0.1 -0.05 0.15;
claim:relation:give 0.15 0 -0.16; verb:try -0.27 0.29 -0.01; claim:two-phrases -0.05 -0.19 0.23;
role:parataxis 0.25 -0.37 0.13; inner:listen 0.04 -0.03 -0.01; inner:help 0 0.02 -0.03;
claim:relation:think -0.04 -0.13 0.18; claim:role:ccomp 0.01 -0.14 0.13; obj:multivitamin 0.1 -0.01 -0.1;
obl:oil 0.1 -0.01 -0.1; obl-det:NN 0.09 -0.08 -0.01; inner:create -0.07 0.1 -0.03; verb:take 0.01 -0.03 0.02;
opener:that -0.03 -0.32 0.35; obl-with:with 0.06 -0.19 0.14; negated 0.1 -0.1 0; under:ensure -0.12 -0.07 0.18;
inner:take -0.05 -0.11 0.16; opener:n't 0.16 0.06 -0.22; inner:get -0.25 0.16 0.09; verb:need -0.39 0.53 -0.15;
inner:figure -0.02 -0.06 0.08; claim:role:det -0.06 0.06 0; inner:find -0.14 -0.09 0.23; verb:pack 0.04 0.01 -0.05;
obj:clothes -0.01 0.03 -0.02; obl:couple 0.06 0.03 -0.09; obl-det:a 0.01 0.05 -0.06; obl-with:like -0.11 -0.06 0.17;
long -0.18 -0.08 0.26; claim:one-of-many 0.14 -0.28 0.14; conditional -0.02 -0.06 0.08; obl-det:that -0.02 0 0.02;
verb:want -0.21 0.63 -0.43; inner:pack -0.04 0.14 -0.1; verb:know -0.15 0.04 0.1; verb:check_out -0.06 0.1 -0.04;
obj-det:those -0.03 -0.13 0.16; claim:relation:check -0.04 0.16 -0.12; verb:excited -0.2 0.18 0.02;
opener:really 0.14 -0.08 -0.06; about:pointed -0.06 -0.07 0.13; chat:pointed -0.06 -0.07 0.13; verb:go -0.02 0 0.02;
under:know 0.02 0.04 -0.06; claim:of-other -0.01 -0.03 0.04; claim:role:xcomp -0.17 -0.14 0.31;
obj:trip -0.11 0.28 -0.17; obl:hilo 0.03 0.05 -0.08; obl-det:JJ 0.2 0.03 -0.23; obl-with:to 0.09 0.08 -0.17;
claim:relation:take 0.09 -0.02 -0.07; inner:check -0.04 0.15 -0.11; claim:role:compound 0.03 0.01 -0.04;
claim:part 0.03 -0.07 0.04; verb:hear -0.42 -0.07 0.49; inner:visit -0.06 0.07 -0.01; claim:relation:be 0 -0.02 0.02;
claim:role:predicate 0.25 -0.04 -0.2; inner:add 0.01 -0.16 0.15; verb:look -0.07 0.04 0.02;
obl-with:into 0.04 -0.01 -0.03; verb:appreciate -0.16 0.05 0.1; obj:information -0.05 -0.03 0.08; you -0.07 -0.08 0.15;
verb:feel -0.04 -0.32 0.37; claim:relation:feel -0.03 -0.11 0.14; inner:read 0.21 -0.24 0.03;
long-message -0.16 -0.09 0.26; obl:with -0.05 0.11 -0.05; obl-det:IN -0.06 0.09 -0.03;
claim:relation:start_with -0.1 0.15 -0.05; claim:value-reworded 0.16 0.03 -0.2; verb:focus -0.01 0.15 -0.14;
be:NOUN 0.45 -0.51 0.07; verb:open -0.02 -0.04 0.06; inner:explore -0.06 0.23 -0.17; obl:now -0.03 0.11 -0.08;
obl-det:RB -0.02 0.08 -0.06; obl-with:for 0.04 0.17 -0.2; opener:always 0.25 -0.2 -0.05; obl-det:NNS 0.31 -0.19 -0.12;
verb:get 0.29 -0.21 -0.08; obj:pair 0.19 -0.02 -0.17; obl-with:as -0.08 -0.04 0.12; obl-with:at 0.01 -0.08 0.07;
obl:day 0.02 -0.02 0.01; claim:relation:get 0.1 -0.05 -0.06; verb:tend 0.07 -0.05 -0.02; under:notice 0.19 -0.06 -0.13;
obl-det:CD 0.35 -0.1 -0.25; claim:role:nmod -0.01 -0.1 0.11; verb:notice 0.07 -0.01 -0.06;
opener:lately 0.17 -0.04 -0.13; verb:attend 0.16 -0.05 -0.1; opener:recently 0.46 -0.08 -0.38;
opener:ago 0.26 -0.02 -0.24; obj-det:NN 0.22 -0.15 -0.07; claim:relation:used_to_attend 0.08 -0.02 -0.05;
obl-det:some -0.03 0.19 -0.16; inner:plan -0.06 -0.01 0.06; inner:know -0.08 0.27 -0.19; inner:go 0.06 0.01 -0.07;
opener:back 0.11 -0.05 -0.07; obl-with:from 0.16 -0.04 -0.12; opener:not 0.03 -0.11 0.09; inner:have 0.14 -0.06 -0.08;
obl-det:this -0.01 0.02 -0.01; about:owned 0.31 -0.14 -0.16; chat:owned 0.15 -0.07 -0.08; obj:me 0.24 -0.02 -0.22;
verb:keep -0.02 -0.19 0.2; opener:since 0.24 0.02 -0.26; verb:work 0.03 -0.01 -0.02; obl:model 0.02 0 -0.02;
obl:time 0.07 -0.14 0.07; claim:relation:work_on -0.02 0.05 -0.02; inner:sure 0.1 -0.18 0.07;
claim:relation:make -0.04 -0.06 0.1; verb:use 0.51 -0.36 -0.16; inner:work 0.04 -0.06 0.02; passive -0.01 -0.12 0.13;
obj:time -0.01 -0.03 0.03; claim:role:iobj 0.08 0.01 -0.09; verb:try_out -0.04 0.18 -0.14;
claim:relation:try_out -0.02 0.16 -0.14; about:other -0.18 -0.15 0.33; chat:other -0.18 -0.15 0.33;
modal:will 0.15 -0.04 -0.1; under:see -0.09 0 0.09; opener:how -0.01 -0.05 0.06; obj-det:my 0.05 -0.04 -0.01;
inner:see 0.06 0.07 -0.13; verb:imagine -0.02 -0.05 0.07; obl:routine 0.04 -0.04 -0.01; about:named -0.02 -0.32 0.34;
chat:named -0.1 -0.25 0.35; opener:particularly 0.08 0.12 -0.2; obl:weekend 0.02 0.02 -0.03;
verb:receive -0.04 -0.01 0.05; obl:week 0.16 -0.03 -0.14; about:group -0.15 -0.08 0.23; chat:group -0.12 0.02 0.1;
under:now -0.07 -0.02 0.09; inner:organize -0.04 0.08 -0.04; claim:relation:go_with -0.01 0.03 -0.02;
opener:before -0.11 -0.04 0.15; obj:it -0.24 -0.03 0.28; inner:camp 0.07 -0.01 -0.05; obl-det:an 0.11 -0.06 -0.05;
claim:relation:try 0.02 0.05 -0.07; verb:listen 0.08 -0.03 -0.05; obl-with:during 0.09 -0.01 -0.08;
opener:actually -0.12 -0.03 0.15; verb:consider -0.27 0.17 0.11; obj:look -0.03 0.09 -0.05;
opener:online -0.04 -0.04 0.08; obj:research -0.15 -0.03 0.18; verb:see 0.06 0.07 -0.14; verb:wonder -0.06 -0.14 0.19;
verb:add -0.11 0.11 0; obj:section -0.02 0 0.02; claim:relation:add -0.07 0.05 0.02; obj:problems 0.02 -0.02 0;
obl-with:through 0.06 -0.04 -0.02; claim:relation:consider -0.15 0.23 -0.07; verb:park -0.02 0 0.02;
opener:only -0.12 -0.01 0.13; obl-with:until -0.11 0 0.11; inner:stay -0.1 -0.08 0.18; opener:because 0.14 -0.01 -0.13;
obj:help -0.14 0.31 -0.17; claim:relation:need -0.07 0 0.07; verb:come 0.4 -0.14 -0.26; opener:up 0.16 -0.03 -0.13;
opener:soon 0.1 0 -0.1; claim:relation:come 0.1 -0.03 -0.07; claim:role:advmod -0.03 -0.05 0.08;
opener:already -0.12 -0.04 0.16; obj:necklace -0.11 -0.01 0.11; opener:especially -0.08 -0.04 0.12;
obj:website -0.01 0.04 -0.03; obj:experience 0.04 -0.01 -0.03; obl:night 0.09 -0.02 -0.07; opener:still 0.09 -0.15 0.05;
obj-det:NNP 0.05 0 -0.04; claim:relation:use 0.19 -0.12 -0.08; obl:yesterday -0.12 -0.01 0.13;
claim:relation:be_on 0.1 -0.04 -0.06; verb:glad -0.05 -0.01 0.06; inner:hear -0.06 -0.11 0.17;
claim:relation:see -0.05 -0.03 0.08; verb:impressed -0.04 0 0.04; verb:learn 0.1 -0.08 -0.02;
obl-with:about -0.2 -0.15 0.35; obj-det:no -0.06 -0.01 0.07; obl:workshop -0.04 0.06 -0.02;
obl:neighborhoods 0.23 -0.02 -0.21; verb:focuse 0.06 -0.05 -0.01; obl:areas 0.07 0.06 -0.13; obl:this -0.04 -0.02 0.06;
obl-det:DT 0.08 -0.03 -0.05; obl-with:since 0.12 0.03 -0.15; claim:relation:think_about -0.05 0.06 -0.01;
inner:start -0.12 0.16 -0.03; verb:track 0.06 -0.04 -0.02; verb:research 0.02 -0.03 0.02;
obj:conditions 0.01 -0.03 0.02; verb:plan -0.46 0.57 -0.11; claim:relation:speak_of -0.1 -0.06 0.16;
inner:make -0.14 0.02 0.12; under:make -0.17 -0.09 0.26; claim:relation:like_to_know -0.05 0.04 0.01;
verb:hike -0.12 -0.05 0.16; claim:relation:can_suggest -0.06 -0.03 0.09; verb:move 0.22 0.03 -0.25;
claim:relation:be_in -0.1 -0.01 0.11; under:understand 0.1 -0.03 -0.07; opener:like -0.06 -0.02 0.08;
obj:myself 0.16 -0.04 -0.12; obl-det:each 0.01 -0.02 0; verb:understand 0.01 -0.02 0.01; modal:ca 0.08 0.02 -0.1;
verb:wait -0.03 0.07 -0.03; opener:though -0.04 0 0.05; obl:while 0.01 -0.03 0.02; verb:experiment 0.08 -0.1 0.03;
obl:podcasts 0.09 -0.05 -0.04; claim:relation:experiment_with 0.02 -0.06 0.04; verb:ask -0.05 0.12 -0.08;
inner:bring -0.01 0.03 -0.02; verb:bring -0.04 0.13 -0.08; obj:guitar 0.03 -0.04 0.02; obj-det:his -0.06 0.07 -0.02;
obj:tips 0.05 -0.07 0.02; claim:relation:keep 0.02 -0.02 0.01; obj:program 0.07 -0.01 -0.05;
claim:relation:be_called 0.32 -0.02 -0.3; opener:later -0.1 -0.03 0.13; obl:types 0.05 -0.04 -0.01;
obl:that 0.11 -0.02 -0.09; inner:good -0.05 -0.13 0.18; opener:forward -0.02 -0.11 0.13;
claim:many-phrases 0.04 0.04 -0.08; obj-det:all -0.03 -0.01 0.04; inner:incorporate 0.16 -0.1 -0.06;
verb:lean -0.03 0.24 -0.21; obl-with:towards 0.05 0.06 -0.11; claim:relation:lean 0.01 0.11 -0.13;
inner:buy -0.05 -0.04 0.09; obj-det:any 0.11 0.05 -0.17; opener:now 0.3 -0.03 -0.27; verb:enjoy 0.03 -0.01 -0.02;
obj:process -0.03 -0.01 0.04; verb:explore 0.05 -0.02 -0.04; obl-det:every -0.01 -0.03 0.03; obl:weeks 0.12 -0.01 -0.11;
verb:curious -0.03 0.13 -0.11; obl:today -0.1 -0.02 0.12; about:dropped -0.18 -0.02 0.2; chat:dropped -0.02 0 0.02;
obj:% 0.08 -0.01 -0.07; verb:help -0.05 -0.02 0.08; obj:lot -0.12 -0.04 0.16; verb:play 0.15 -0.03 -0.12;
opener:then 0.06 -0.01 -0.05; verb:choose 0.05 -0.01 -0.04; under:find 0.08 -0.01 -0.07; opener:when -0.1 -0.18 0.27;
inner:do -0.08 0.05 0.03; verb:wear -0.11 0 0.11; verb:mean -0.34 0.24 0.09; verb:talk -0.11 -0.09 0.21;
opener:where -0.05 -0.02 0.07; inner:improve 0.01 -0.05 0.04; inner:keep 0 -0.02 0.02; obl:space 0.07 -0.09 0.02;
role:csubj -0.08 -0.01 0.09; inner:give -0.08 0.03 0.05; verb:agree 0.08 -0.04 -0.05; opener:totally 0.02 -0.01 -0.01;
obl-det:our 0.03 -0.09 0.07; claim:relation:plan -0.13 0.19 -0.06; under:hear -0.05 0.06 -0.01;
obl:people -0.17 0.03 0.15; verb:buy -0.18 0.1 0.08; verb:prefer 0.63 -0.27 -0.36; obj:courses 0.01 -0.07 0.07;
claim:relation:used_to_be 0.13 0 -0.12; obl:them 0.01 -0.06 0.05; obl-det:PRP -0.06 -0.15 0.21;
obl:example -0.03 0 0.03; verb:join 0.07 0 -0.06; verb:catch 0.03 -0.01 -0.02; obj-det:your -0.02 0 0.03;
verb:read 0.04 -0.01 -0.02; obl:month 0.06 0.03 -0.09; verb:improve 0.1 -0.05 -0.05; obj:day 0.08 0 -0.08;
verb:meet 0.09 -0.04 -0.05; obj:exercises 0.06 -0.01 -0.05; opener:in 0.03 -0.01 -0.02; verb:realize -0.04 0 0.04;
be:PROPN -0.04 -0.04 0.08; inner:confident -0.04 -0.12 0.16; obl:sounds -0.07 -0.02 0.08;
claim:relation:go_to 0.07 -0.01 -0.06; verb:install 0.15 -0.01 -0.14; obj:lots -0.02 0 0.02; be:PRON 0.03 -0.01 -0.02;
obj:party -0.11 0.18 -0.07; opener:why 0.08 -0.03 -0.05; obj:combination -0.02 -0.01 0.03;
claim:relation:used_to_use -0.07 -0.01 0.07; claim:role:appos 0.09 0 -0.09; be:VERB -0.1 0.1 -0.01;
opener:all 0.12 -0.02 -0.1; opener:about 0.01 -0.03 0.01; obl:$ -0.12 0.06 0.06; opener:maybe -0.06 -0.01 0.07;
obl:fiction 0.13 -0.04 -0.09; verb:check -0.03 0.11 -0.08; under:glad 0.06 0.01 -0.08;
claim:relation:find 0.08 -0.02 -0.06; be:NUM 0.03 -0.02 -0.01; verb:careful 0.14 -0.03 -0.11;
opener:more 0.03 -0.03 0.01; obl:what -0.06 -0.02 0.08; obl-det:WP 0.03 -0.02 0; inner:focus -0.01 0.13 -0.12;
verb:part -0.07 -0.03 0.1; obl:group -0.17 -0.04 0.21; verb:spend 0.01 -0.02 0.01; obj:$ -0.11 -0.01 0.13;
obj-det:30 0.03 -0.02 -0.01; verb:leave 0 0.09 -0.09; asked -0.17 -0.02 0.19; obj:you -0.05 -0.05 0.1;
obl:reserve 0.02 0.01 -0.03; obl:times -0.03 0 0.03; obj:minutes 0.02 0.06 -0.08; verb:manage 0.07 -0.05 -0.03;
verb:proud 0.04 -0.02 -0.02; obj-det:five -0.24 -0.01 0.25; inner:consider -0.02 0.12 -0.1;
obl-det:120 -0.04 0.07 -0.03; claim:relation:want_to_make -0.03 -0.14 0.17; obl:it -0.09 -0.03 0.11;
obl:studio 0.03 -0.02 0; obl-with:after 0 -0.02 0.02; obj:goals -0.14 -0.01 0.15; opener:even 0.04 -0.01 -0.02;
inner:use 0.03 -0.01 -0.01; verb:sell 0.05 -0.02 -0.04; claim:relation:sell 0.03 -0.01 -0.02;
verb:raise -0.02 -0.05 0.07; modal:might -0.02 0.09 -0.08; obl:class 0.1 0 -0.1; verb:run 0.01 0.05 -0.06;
obl:event -0.08 -0.01 0.08; inner:run 0.08 -0.07 -0.01; obj-det:these -0.03 -0.07 0.1; obj:kids -0.03 -0.01 0.04;
claim:role:nsubj -0.01 -0.04 0.05; verb:miss -0.02 -0.01 0.03; inner:reduce 0.08 0.02 -0.1; obl:trip 0.06 -0.02 -0.04;
obl:saturday 0.1 -0.04 -0.06; verb:watch -0.01 -0.02 0.03; obj:tournament -0.05 0.06 -0.01; inner:cover 0.06 -0.06 0;
obj:car 0.14 -0.01 -0.12; obj-det:an 0.01 -0.04 0.03; verb:complete 0.18 -0.01 -0.18;
claim:relation:complete 0.03 0 -0.03; obj-det:NAME 0.4 -0.12 -0.28; verb:speak 0.07 -0.01 -0.06;
be:ADV -0.23 -0.03 0.25; obj:hand 0.06 -0.01 -0.05; modal:should -0.05 -0.04 0.1; obl-det:their -0.14 0.03 0.11;
opener:never -0.01 -0.03 0.04; obj:engineers -0.01 0.02 -0.01; obj-det:4 -0.04 0.01 0.03; obl:manager -0.01 0.02 -0.01;
verb:score -0.15 -0.01 0.16; obj-det:two 0.02 -0.02 -0.01; talk 0.16 -0.45 0.28; talk:speaker 0.16 -0.18 0.03;
talk:past 0.43 -0.16 -0.27; talk:group -0.02 -0.1 0.12; talk:be:ADJ -0.12 0.05 0.07; talk:present -0.09 -0.2 0.3;
talk:owned 0.15 -0.07 -0.08; talk:modal:can -0.09 -0.08 0.17; talk: -0.17 -0.08 0.25; talk:negated -0.05 -0.1 0.15;
talk:progressive -0.09 -0.01 0.11; verb:give_up -0.02 -0.01 0.04; talk:be:NOUN 0 -0.03 0.03;
talk:modal:'ll -0.09 -0.04 0.13; obl:year 0.12 -0.03 -0.09; talk:perfect -0.01 0.03 -0.01;
talk:dropped -0.16 -0.01 0.17; verb:gon -0.07 -0.1 0.17; talk:named 0.08 -0.06 -0.01; opener:too 0.02 -0.01 -0.01;
under:try 0.03 -0.09 0.06; talk:be:VERB 0.05 -0.07 0.02; verb:passionate 0.08 -0.05 -0.03; verb:lucky 0.13 -0.01 -0.11;
obl:shelter 0.08 -0.05 -0.04; verb:volunteer 0.09 -0.02 -0.06; verb:keen -0.05 0.03 0.02;
opener:together -0.01 -0.03 0.04; modal:could -0.02 -0.03 0.05; talk:modal:could -0.02 -0.03 0.05;
obj:people -0.07 -0.02 0.09; modal:wo -0.14 -0.02 0.15; talk:modal:wo -0.02 -0.01 0.03; obl:you 0.04 -0.01 -0.03;
talk:modal:'d -0.04 0.14 -0.1; verb:off -0.18 -0.06 0.24; inner:push -0.05 -0.06 0.11; obj:difference -0.04 0 0.05;
talk:passive -0.08 -0.02 0.1; verb:stoke -0.02 0 0.02; verb:stay -0.03 -0.02 0.06; verb:pump -0.04 -0.02 0.06;
opener:ever 0.18 -0.04 -0.14; verb:say -0.11 0 0.11; obj:this -0.08 0 0.08; obl-det:your -0.01 -0.01 0.02;
talk:person -0.04 -0.01 0.05; verb:teach 0.06 0 -0.06; opener:here 0.14 -0.01 -0.13; opener:super -0.07 -0.05 0.12;
inner:ensure -0.03 -0.02 0.05; opener:last -0.03 0 0.03; verb:let 0.11 -0.04 -0.07; obj:anything -0.02 0 0.02;
verb:put 0.04 -0.01 -0.03; opener:again 0.05 -0.03 -0.01; obl:project -0.03 -0.08 0.1;
claim:relation:play 0.08 -0.01 -0.07; obl:office 0.11 -0.05 -0.06; verb:implement -0.06 -0.05 0.11;
verb:target 0.15 -0.08 -0.07; obj:approach 0.07 -0.05 -0.01; inner:handle -0.03 0.03 0; inner:set -0.1 0.01 0.09;
claim:relation:try_to_set_up -0.02 0.05 -0.04; inner:configure -0.03 0.07 -0.04; verb:set_up 0.16 -0.02 -0.14;
opener:correctly -0.01 -0.01 0.02; verb:achieve 0 0.19 -0.2; obj:coverage 0 0.19 -0.2;
opener:specifically -0.07 -0.09 0.16; obj:trouble -0.2 -0.12 0.32; inner:optimize -0.08 0.05 0.03;
inner:implement -0.03 0.19 -0.16; claim:relation:try_to_implement -0.01 0.04 -0.02; obj:code -0.06 0 0.06;
obj-det:CD 0 -0.03 0.03; inner:calculate -0.03 0.03 0; inner:understand -0.06 -0.07 0.13; obl:% 0.11 -0.02 -0.1;
obl-det:80 0.12 -0.01 -0.11; obj:methods -0.09 -0.07 0.16; inner:apply -0.05 -0.01 0.05; inner:solve -0.04 0.2 -0.16;
inner:verify -0.01 -0.15 0.17; inner:deploy -0.02 0 0.02; obj:review -0.05 0.08 -0.03; obj:error -0.02 -0.03 0.05;
verb:experience -0.05 -0.01 0.07; obj:issues -0.06 -0.02 0.08; verb:accessible -0.03 -0.05 0.08;
claim:relation:try_to_optimize -0.02 0.05 -0.03; obj:errors -0.05 -0.01 0.07; obl:problems -0.15 -0.01 0.16;
obj:html5 0.04 -0.02 -0.02; obl:css3 0.04 -0.02 -0.02; obl:v5.3.0 0.04 -0.02 -0.02; obl:website 0.04 -0.02 -0.02;
inner:prove -0.03 0.05 -0.02; verb:write 0.03 0.08 -0.11; obj:flask 0.12 -0.03 -0.08; obj:python 0.11 0 -0.11;
obj:up 0.08 0 -0.07; obj-det:RP 0.08 0 -0.07; under:say -0.08 -0.01 0.09; verb:study 0.08 -0.02 -0.06;
verb:call 0.19 -0.03 -0.16; obl:monday 0.08 -0.04 -0.04; claim:relation:live_in -0.01 -0.06 0.07;
verb:live 0.09 -0.1 0.01; obj:urdu 0.13 -0.01 -0.12; obl-det:two -0.09 -0.02 0.1; obj:cilantro 0.06 -0.01 -0.04;
obl:card -0.05 -0.01 0.07; obl:salon -0.29 -0.01 0.3; obj:stylists -0.29 -0.01 0.3;
claim:relation:hate 0.12 -0.01 -0.11; claim:relation:want -0.04 -0.03 0.06; obj:shop -0.03 0 0.03;
obl:2016 0.03 0 -0.03; obl:may 0.04 0 -0.04; verb:marry 0.11 -0.01 -0.11; verb:hate 0.07 0 -0.07;
obl-with:because -0.01 -0.01 0.02; verb:eat -0.05 0 0.05; obj:parrot 0.11 0 -0.11;
`;

/** The weights of the dimensions of a sentence's vector: a line each for keep, intent and drop. */
export const VECTOR_WEIGHTS = [
  `
0.01 -1.71 0.06 -0.1 -0.54 -0.6 0.2 -0.79 -0.24 -0.76 0.07 -0.86 -0.38 -0.07 0.26 0.19 -0.19 0.55 0.68 1.09 -0.16 -0.38
0.58 -0.46 -0.55 -0.45 -0.28 -0.26 0.61 0.49 0.15 -0.36 -0.17 0.05 -0.19 -0.79 -0.48 0.19 -0.93 0.3 0.56 -0.08 -0.44
0.48 -0.36 0.2 -0.6 0.83 -0.35 0.19 0.71 -0.14 -0.98 -1.33 -0.02 -1.12 0.51 -0.72 -1.19 -0.05 -0.5 0.17 -0.73 0.53 1.26
0.3 0.05 -0.1 -0.42 0.27 -0.56 0.51 -0.52 0.15 -0.68 -0.6 0.84 0.09 0.28 -0.59 0.1 0.01 0.27 0.02 0.37 -0.35 1.03 0.24
0.59 -0.39 0.71 -0.84 -0.35 -0.25 0.52 0.22 -1.03 0.01 1.1 0.64 0.22 1.23 0.4 -0.77 0.6 0.64 0.15 -0.37 -0.22 -1.08 0.55
-1 -0.65 0.12 -0.48 -0.07 0.56 0.39 0.6 -0.62 0.57 -0.42 -1.12 0.15 -0.95 0.23 -0.19 -0.4 0.63 0.34 -0.3 0.41 0.08 0.11
0.4 -1.09 -1.87 -0.16 0.1 0.06 -0.6 0.42 -0.34 -0.91 -0.59 -0.4 0.43 0.01 -0.14 0.54 -0.01 -0.44 -1.3 -0.18 -0.46 0.16
-0.24 -0.69 0.17 -0.21 0.06 -1.22 0.26 0.67 0.71 -0.62 -0.7 -0.06 -0.31 0.57 0.45 -0.08 0.37 -0.12 -0.77 -0.7 0.43 0.73
-0.31 -0.03 0.61 -0.16 0.48 -0.03 -1.02 0.21 0.46 -0.41 0.36 0.61 1.08 0 -0.19 -1.01 -0.56 -0.9 0.46 0.41 -0.07 0.57
-0.2 -0.3 -0.29 0.57 0.11 -0.28 -0.7 0.23 0.25 -1.36 -0.16 -0.35 -0.69 -0.46 0.58 -0.11 -0.12 -0.09 0.62 0.43 -0.68
-0.27 -0.06 -0.39 -0.34 -1.44 -0.34 0.61 0.73 0.24 -0.08 0.77 0.79 0.45 0.37 0.47 -0.61 -0.86 0.38 0.78 -0.41 -0.16 -0.5
1.01 0.17 -0.23 -0.03 0.19 -0.55 -0.2 -0.81 -0.06 -0.01 0.26 0.92 0.02
`,
  `
-1.18 0.99 -0.47 1.1 -0.06 -0.56 0.48 -1.11 0.31 0.34 -0.56 -0.16 0.68 0.33 -0.82 -0.67 -0.05 -0.94 0.47 -0.43 -0.1 0.26
-0.19 -0.1 -0.58 -0.71 0.99 0.03 -0.92 -0.04 0.46 -0.06 0.51 -0.26 0.57 0.93 0.15 -0.31 -0.91 -0.43 0.16 1.22 -0.09
-0.92 0.04 -0.18 0.69 -0.97 0.19 -0.39 -0.62 0.68 0.41 1.01 -0.19 0.12 1.22 0.63 0.58 -0.33 0.76 -0.68 0.19 -0.47 0.19
-0.59 0.26 -0.62 -0.03 0.35 -0.23 -0.16 0.43 -0.15 0.24 0.5 -0.58 -0.04 -0.15 0.22 0.42 0.68 0.12 -0.02 -0.25 -0.54
-0.03 -1.15 0.12 -0.09 -0.92 -0.33 0.47 -0.21 0.4 -0.33 0.82 0.43 -0.08 -0.58 0.54 -0.27 -0.67 0.57 -0.34 -0.44 -0.53
0.59 -0.28 0.61 -0.13 0.75 -0.53 0.46 0.12 0.64 -0.19 0.74 0.14 0.58 0.43 -0.68 0.33 -0.6 -0.5 -0.15 1.01 0.31 0.1 -0.04
-0.14 -0.04 0.33 -0.53 -0.29 0.4 0.13 0.69 -0.38 -0.5 1.21 -0.59 0.35 -0.15 0.55 -0.31 -0.67 0.37 0.18 -0.8 -0.17 -0.19
0.96 0.66 -0.56 -0.36 0.04 -0.1 -0.13 0.21 0.2 -0.21 0.24 -0.21 -0.72 0.27 1.3 0.27 0.24 -0.07 -0.15 0.24 -0.03 1.12
0.14 0.77 0.22 -0.01 1.25 0.08 0 -0.04 0.11 -0.51 0.51 -0.27 -0.06 -0.02 -0.27 -0.64 -0.21 0.45 -0.23 0.32 -0.24 -0.06
-0.31 -0.06 -0.17 -0.12 0.02 -0.03 0.37 0.13 -0.38 0.09 0.75 0.05 0.25 -0.14 -0.38 0.22 0.37 0.05 -0.51 -0.37 -0.15 0.16
0.29 -0.55 0.02 0.17 -0.26 0.11 0.92 1.21 -0.33 -0.38 -0.13 -0.21 -0.41 -0.31 -0.64 -0.07 0.24 -0.02 -0.11 0.23 -0.76
-0.78 0.23 -0.11 -0.23 -0.2 -0.44 0.73 0.09 -0.69 0.01 0.4 -0.22 0.11 0.38 -0.35 0.02 0.42
`,
  `
0.9 0.59 0.36 -0.87 0.47 1.12 -0.63 1.63 -0.06 0.42 0.48 1.03 -0.3 -0.26 0.56 0.45 0.24 0.38 -1.14 -0.65 0.26 0.12 -0.39
0.53 1.13 1.17 -0.72 0.23 0.32 -0.45 -0.62 0.41 -0.34 0.21 -0.38 -0.14 0.33 0.13 1.83 0.14 -0.72 -1.14 0.53 0.43 0.32
-0.02 -0.09 0.13 0.16 0.21 -0.09 -0.55 0.57 0.31 0.21 1 -1.73 0.09 0.61 0.38 -0.26 0.51 0.54 -0.05 -1.46 0.28 -0.31 0.71
0.46 -0.61 0.8 -0.36 0.09 0 0.44 0.09 -0.26 -0.05 -0.13 0.38 -0.51 -0.69 -0.38 -0.01 -0.12 0.89 -0.99 0.92 -0.71 0.48
0.21 1.17 -0.12 0.46 -0.92 0.12 0.2 -0.43 -1.01 -0.05 -0.76 -0.97 0.27 0.2 -0.26 -0.2 0.38 -0.23 0.5 0.46 -0.42 0.25
1.17 -0.59 0.35 -0.57 -0.37 -1.13 -0.74 0.05 -1 1.1 0.79 0.45 1.45 -0.08 -0.82 0.09 -0.73 -0.29 0.44 -0.36 -0.41 0.42
-0.12 0.69 1.75 -0.52 0.29 0.44 -0.61 0.16 0 1.07 0.04 0.71 0.23 -0.38 -0.04 0.27 0.19 0.63 0.34 -0.48 1.02 0.2 0.2 0.79
-0.03 -0.01 -0.27 1.43 -0.5 -0.47 0.01 0.36 -0.6 -0.22 0.06 -0.5 -0.29 -0.16 -0.33 -1 0.63 -0.07 -0.66 -0.72 -0.94 -0.05
-0.61 0.2 -0.58 0.54 0.52 0.06 -0.39 0.43 -0.09 0.03 -0.87 -0.45 0.42 0.69 0.8 0.96 -0.16 -0.35 0.25 -0.45 0.17 0.33
-0.08 -0.71 0.27 0.19 -0.06 -0.27 -0.5 1.5 0.53 0.12 0.33 0.4 -0.06 0.48 0.27 -0.07 -0.91 0.12 0.66 0.1 0.33 0.27 -0.58
0.23 0.68 -0.22 -0.6 -0.02 0.49 -0.46 -0.16 -0.38 -0.61 -0.45 0.73 0.62 0.38 0 0.18 0.27 0.72 -0.82 0.28 -0.51 -0.06 0.5
0.55 -0.2 1.03 -0.03 -0.37 0.09 -0.93 -0.45
`,
] as const;
