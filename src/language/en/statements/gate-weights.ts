// Written by scripts/statements/fit.ts; docs/results/statements.md says on what.

/** The weights of signs, parted by semicolons: name (a blank is an underscore), keep, intent, drop. */
export const SIGN_WEIGHTS = `
chat -0.2 -0.05 0.24; about:speaker -0.08 0.1 -0.01; role:root 0.06 0.11 -0.06; chat:speaker -0.14 0.2 -0.02;
progressive -0.38 0.75 -0.21; present 0.29 -0.37 -0.05; verb:think -1.36 1.53 -0.35; inner:try -0.12 0.05 0.07;
name 0.11 0.28 -0.25; words 0.24 0.32 -0.5; message -0.21 -0.18 0.34; claim:relation:think_of -0.13 0.08 0.05;
claim:of-user -0.03 0.11 0.03; claim:same-predicate 0.1 0.01 -0.03; claim:one-phrase -0.03 -0.01 0.12;
claim:role:advcl -0.13 0.18 -0.05; source:rules 0.02 -0.37 0.33; bias -0.14 -0.31 0.35; perfect 0.56 -1.13 0.23;
verb:do 0.11 -0.38 0.27; has:obj 0.5 -0.89 0.14; obj:sessions 0.12 0 -0.12; obj-det:NNS 0.55 -0.36 -0.18;
has:obl 0.16 -0.21 0.04; obl:saturdays 0.05 0 -0.05; obl-det:NAME 0.42 -0.09 -0.34; obl-with:on 0.32 -0.21 -0.12;
claim:relation:do 0.06 -0.03 -0.02; claim:role:obj -0.02 0.17 -0.03; claim:qualified 0.11 0.16 -0.18;
source:trees -0.19 -0.23 0.33; role:conj 0 -0.32 0.23; obj-det:a 0.1 0.19 -0.18; modal:'d -0.87 0.68 0.2;
verb:like -0.39 0.13 0.26; inner:ask -0.15 -0.42 0.57; has:xcomp -0.16 0.54 -0.45; claim:role:obl 0.04 -0.03 0.02;
role:ccomp -0.15 -0.37 0.46; modal:'ll -1.8 1.56 0.06; verb:start 0.17 -0.29 0.12; under:think -0.67 0.83 -0.18;
inner:gather 0.2 -0.14 -0.06; claim:relation:start_by -0.01 -0.09 0.09; claim:ends-before -0.51 -0.1 0.6;
verb:have 0 -0.26 0.26; obl-det:my 0.17 -0.39 0.21; obl-with:of -0.32 0.23 0.09; mentions-own 0.43 -0.06 -0.3;
claim:relation:have_of 0.24 0 -0.24; claim:starts-elsewhere -0.24 -0.47 0.66; claim:relation:have 0.19 -0.35 0.15;
claim:relation:used_to_have -0.03 -0.01 0.04; claim:of-owned 0.2 -0.58 0.3; claim:other-subject 0.09 0.26 -0.31;
claim:other-predicate -0.03 -0.43 0.42; claim:role:acl -0.12 -0.06 0.17; be:ADJ 0.16 0.02 -0.18;
verb:sure -0.41 -0.19 0.6; has:ccomp 0.53 -0.56 0.01; unresolved -0.57 -0.5 0.8; claim:cut -0.04 -0.07 0.13;
modal:can -0.55 -0.41 0.94; verb:find 0.59 -0.15 -0.44; under:sure -0.53 -0.11 0.65; obj:things -0.18 -0.05 0.23;
obj-det:some 0.21 0.07 -0.26; role:advcl -0.15 -0.24 0.37; verb:include -0.05 -0.11 0.17; opener:so -0.15 -0.25 0.4;
obj:them -0.35 -0.03 0.38; obj-det:PRP -0.18 -0.27 0.46; obl-det:the -0.11 0.12 0.07; obl-with:in 0.1 -0.35 0.25;
claim:no-clause -0.24 -0.68 0.9; about:person 0.1 -0.26 0.17; role:acl -0.56 -0.07 0.64; chat:person 0.2 -0.24 0.04;
verb:make 0.25 -0.51 0.26; short -0.2 -0.51 0.65; obj:idea -0.36 -0.13 0.49; obj-det:the -0.06 -0.09 0.16;
claim:relation:like -0.16 -0.1 0.27; inner:research -0.08 0 0.08; number 0.21 0.07 -0.21;
claim:role:conj -0.35 -0.36 0.71; inner:look -0.04 0.16 -0.12; opener:also -0.04 0.13 -0.08;
claim:ends-after 0.31 0.01 -0.32; verb:interested -0.36 0.71 -0.36; inner:learn 0.14 0.12 -0.27;
claim:relation:be_interested_in -0.18 0.13 0.05; inner:watch 0.01 -0.07 0.07; time-phrase -0.1 0.27 -0.07;
past 0.54 -1.2 0.34; verb:finish 0.09 0 -0.09; opener:just 0.65 -0.28 -0.36; obl:way 0.11 -0.03 -0.08;
obl-with:by 0.15 0.16 -0.3; claim:relation:finish 0.11 0 -0.1; verb:love 0.24 0.05 -0.29; opener:far -0.6 -0.03 0.63;
obj-det:this 0.22 -0.01 -0.21; claim:relation:love 0.09 -0.03 -0.06; verb:give 0.21 0.01 -0.22;
opener:definitely -0.14 0.25 -0.11; obj:some 0.32 -0.05 -0.27; obj-det:DT -0.09 -0.13 0.22;
claim:relation:give 0.18 0.02 -0.19; verb:try -0.17 0.22 -0.03; inner:prioritize 0.16 -0.14 -0.02;
claim:two-phrases -0.17 -0.29 0.46; role:parataxis 0.21 -0.43 0.22; inner:listen 0.24 -0.06 -0.18;
inner:help 0.09 -0.25 0.16; claim:relation:think 0.07 -0.33 0.26; claim:role:ccomp -0.01 -0.35 0.36;
obj:multivitamin 0.21 0 -0.2; obl:oil 0.21 0 -0.2; obl-det:NN 0.16 -0.08 -0.05; inner:create 0.26 0 -0.26;
verb:take -0.12 -0.08 0.2; opener:that 0.04 -0.26 0.22; obj-det:every -0.13 0 0.13; obl-with:with 0.04 -0.1 0.07;
negated 0.07 -0.22 0.13; verb:forget -0.39 -0.02 0.41; under:ensure -0.4 -0.17 0.57; inner:take -0.15 -0.17 0.32;
opener:n't 0.18 -0.04 -0.13; inner:get -0.43 0.32 0.11; inner:practice 0.06 -0.1 0.04; verb:need -0.77 0.72 0.05;
inner:figure -0.1 -0.1 0.21; claim:role:det -0.18 0.11 0.07; inner:find -0.31 -0.08 0.39; verb:pack 0.22 -0.04 -0.18;
obj:clothes -0.03 -0.02 0.06; obl:couple 0.16 -0.03 -0.14; obl-det:a 0.15 0.12 -0.22; obl-with:like 0.14 -0.09 -0.06;
long 0.08 -0.2 0.12; claim:relation:pack -0.16 0.04 0.12; claim:one-of-many 0.16 -0.49 0.31;
conditional -0.11 -0.13 0.24; obl-det:that -0.11 -0.11 0.22; verb:want -0.58 1.15 -0.65; inner:pack -0.23 0.5 -0.27;
verb:know -0.27 0.05 0.22; verb:check_out -0.19 0.07 0.12; obj-det:those -0.07 -0.28 0.35;
claim:relation:check -0.17 0.26 -0.09; verb:excited -0.97 0.67 0.29; opener:really 0.35 -0.04 -0.31;
about:pointed -0.07 -0.21 0.28; chat:pointed -0.07 -0.21 0.28; verb:go -0.08 0.14 -0.07; under:know -0.11 0.07 0.04;
claim:of-other 0.13 -0.09 -0.03; claim:role:xcomp -0.1 -0.26 0.37; obj:trip -0.12 0.46 -0.34; obl:hilo 0.08 0.05 -0.13;
obl-det:JJ 0.09 0.1 -0.19; obl-with:to 0.02 0.02 -0.03; claim:relation:take -0.02 -0.02 0.04;
inner:check -0.15 0.23 -0.08; claim:role:compound -0.25 0.02 0.23; claim:part -0.12 -0.01 0.14;
verb:hear -0.98 -0.1 1.08; inner:visit -0.32 0.33 -0.01; opener:most -0.12 0 0.12; claim:relation:be -0.3 0.03 0.28;
claim:role:predicate 0.4 0.15 -0.5; inner:add -0.19 -0.19 0.39; verb:look -0.38 -0.18 0.56;
obl-with:into 0.15 -0.13 -0.01; claim:relation:look_into -0.19 -0.12 0.31; verb:appreciate -0.26 0.2 0.06;
obj:information -0.06 -0.02 0.08; you -0.16 -0.23 0.38; claim:relation:appreciate -0.04 -0.01 0.05;
verb:feel 0.1 -0.5 0.4; inner:inform -0.05 -0.02 0.07; claim:relation:feel -0.07 -0.14 0.21;
inner:read 0.22 -0.16 -0.07; long-message -0.25 -0.04 0.25; obl:with -0.16 0.24 -0.08; obl-det:IN -0.18 0.13 0.04;
claim:relation:start_with -0.2 0.4 -0.2; claim:value-reworded 0.76 -0.29 -0.47; verb:focus -0.16 0.27 -0.11;
be:NOUN 0.49 -0.39 -0.09; verb:open -0.3 -0.11 0.41; inner:explore 0.01 0.21 -0.22; obl:now 0.04 0.21 -0.25;
obl-det:RB 0.14 0.16 -0.3; obl-with:for -0.11 0.28 -0.12; opener:always 0.41 -0.21 -0.19; obl-det:NNS 0.44 -0.18 -0.26;
verb:get 0.32 -0.31 -0.02; obj:pair 0.33 -0.01 -0.32; obl-with:as -0.26 0.3 -0.04; obl-with:at 0.12 -0.04 -0.05;
obl:day -0.13 -0.01 0.14; claim:relation:get 0.09 -0.13 0.04; verb:tend 0.3 -0.07 -0.23; under:notice 0.37 -0.03 -0.35;
obl-det:CD 0.31 -0.3 -0.01; obl-with:around 0.44 -0.05 -0.39; claim:role:nmod 0.2 -0.14 -0.07;
verb:notice 0.07 -0.03 -0.04; opener:lately 0.05 0.11 -0.16; claim:relation:get_into 0.27 -0.04 -0.23;
verb:attend 0.1 -0.07 -0.02; opener:recently 0.58 -0.07 -0.5; opener:ago 0.05 -0.04 -0.01; obj-det:NN 0.54 -0.53 -0.04;
claim:relation:used_to_attend 0.17 -0.03 -0.14; obl:recommendations -0.3 -0.01 0.31; obl-det:some -0.01 0.1 -0.09;
inner:plan -0.08 0.09 -0.01; inner:know 0.02 0.28 -0.29; inner:go 0 0.03 -0.03; opener:back -0.03 -0.05 0.08;
obl-with:from 0.04 0.05 -0.08; claim:relation:get_back_from 0.11 -0.02 -0.09; opener:not -0.04 -0.11 0.15;
verb:tired 0.14 -0.14 0; inner:have 0.14 0.18 -0.32; verb:deserve -0.1 -0.05 0.15; inner:better 0.17 -0.18 0.01;
obl-det:this 0.22 -0.1 -0.12; about:owned 0.33 -0.16 -0.16; chat:owned 0.09 -0.16 0.09; obj:me 0.46 -0.04 -0.43;
verb:keep -0.28 0 0.28; opener:since 0.66 0.06 -0.72; verb:work 0.33 -0.23 -0.09; obl:model 0.03 0.04 -0.07;
obl:time 0.1 -0.28 0.18; claim:relation:work_on -0.16 0.17 0; obl:tips -0.11 0.01 0.1; inner:sure 0.1 -0.28 0.18;
claim:relation:make 0.03 -0.07 0.04; claim:relation:visit 0.02 -0.04 0.02; verb:use 0.83 -0.78 -0.15;
inner:work -0.19 0.05 0.14; obj:bus -0.02 -0.03 0.05; passive 0.33 -0.2 -0.13; has:iobj -0.35 0.25 0.1;
obj:time 0.28 -0.06 -0.23; claim:role:iobj 0.23 0.02 -0.26; verb:try_out 0.29 0.09 -0.38;
claim:relation:try_out 0.12 0.2 -0.32; about:other -0.37 -0.22 0.58; chat:other -0.41 -0.21 0.61;
modal:will -0.29 0.19 0.1; under:see -0.29 0 0.29; opener:how -0.09 -0.17 0.26; obj:understanding -0.1 -0.03 0.13;
obj-det:my 0.36 -0.2 -0.13; inner:see 0.02 0.02 -0.04; verb:imagine -0.04 -0.08 0.11; obl:routine 0.21 -0.04 -0.17;
about:named -0.12 -0.56 0.69; chat:named -0.28 -0.36 0.64; opener:particularly 0.06 0.04 -0.09;
obl:stamps 0.24 -0.16 -0.08; verb:organize 0.1 -0.02 -0.07; obj:collection 0.06 -0.02 -0.04;
obl:weekend -0.18 -0.04 0.22; claim:relation:organize -0.02 -0.02 0.04; verb:receive -0.07 -0.03 0.1;
under:amaze -0.21 0 0.21; obl:week -0.07 0.16 -0.09; about:group -0.2 -0.26 0.43; chat:group -0.27 0.11 0.18;
under:now -0.21 -0.02 0.23; inner:organize -0.12 -0.03 0.15; opener:before -0.24 -0.04 0.28; obj:it -0.43 -0.11 0.54;
inner:camp 0.25 -0.02 -0.23; obl-det:an 0.1 -0.21 0.12; claim:relation:try 0.11 0.23 -0.35;
verb:willing -0.1 -0.11 0.21; verb:listen 0.3 -0.03 -0.27; obl-with:during 0.18 -0.04 -0.14;
claim:relation:listen_to 0.18 -0.01 -0.17; opener:actually 0.01 -0.08 0.07; obj:mom 0.06 0 -0.06;
obj:cookbook 0.02 0 -0.02; obl-det:her 0.03 -0.01 -0.02; verb:consider -0.75 0.34 0.4;
claim:relation:consider_getting 0 -0.24 0.24; obj:look -0.05 0.12 -0.07; opener:online -0.06 -0.01 0.07;
obj:research -0.6 -0.02 0.61; verb:see -0.25 0.18 0.08; verb:wonder -0.07 -0.11 0.18; verb:add -0.4 0.08 0.32;
obj:section -0.01 0.09 -0.08; claim:relation:add -0.23 0.13 0.1; obj:problems -0.18 -0.06 0.24;
obl-with:through 0.05 0 -0.05; claim:relation:consider -0.39 0.6 -0.21; opener:only -0.26 -0.02 0.28;
obl-with:until -0.04 0 0.04; inner:stay 0.01 -0.14 0.14; opener:because 0.26 -0.02 -0.24; obj:rules -0.07 -0.06 0.13;
obj:help -0.11 0.47 -0.36; claim:relation:need -0.18 -0.1 0.29; verb:come 0.55 -0.45 -0.1; opener:up 0.24 -0.08 -0.16;
opener:soon 0.04 -0.06 0.02; claim:relation:come 0.24 -0.07 -0.16; claim:role:advmod -0.28 0.05 0.23;
opener:already 0.25 -0.12 -0.13; obj:necklace -0.29 -0.01 0.29; opener:especially -0.02 -0.13 0.15;
obj:website 0.15 0.01 -0.16; obj:experience 0.14 -0.05 -0.08; obl:night 0.38 -0.06 -0.32; opener:still 0.24 -0.45 0.21;
obj:food 0.03 0 -0.03; obl:ideas -0.35 0.13 0.23; obj-det:NNP 0.15 0 -0.15; claim:relation:use 0.48 -0.37 -0.12;
obl:yesterday -0.05 -0.03 0.08; obl-det:20 -0.24 -0.01 0.25; claim:relation:be_on 0.03 -0.1 0.07;
verb:glad -0.1 0.05 0.05; inner:hear -0.09 -0.17 0.26; obj:songs 0 0.15 -0.15; obl:playlist 0 0.15 -0.15;
obj:songwriter -0.16 -0.01 0.17; claim:relation:see 0.05 -0.06 0.02; verb:impressed -0.2 0 0.2; obl:style -0.05 0 0.05;
claim:relation:be_impressed_by -0.03 0 0.03; verb:learn 0.06 -0.05 0; obl-with:about -0.06 -0.53 0.58;
obl:history -0.01 -0.07 0.08; obj-det:no -0.09 -0.02 0.11; obl:workshop -0.05 0.11 -0.06;
obl:neighborhoods 0.65 0 -0.64; claim:relation:look_at 0.17 -0.03 -0.15; verb:focuse 0.32 -0.16 -0.15;
obl:areas 0.19 0.19 -0.39; opener:seriously -0.02 -0.01 0.03; obl:this -0.16 -0.02 0.17; obl-det:DT 0.02 -0.09 0.07;
obl:mid -0.02 -0.01 0.03; obl-with:since 0.17 0.09 -0.26; obl:- -0.12 -0.01 0.14;
claim:relation:think_about -0.06 0.17 -0.11; inner:start -0.5 0.67 -0.17; verb:browse -0.34 -0.03 0.36;
verb:track 0.15 -0.07 -0.08; obj:habits 0.14 -0.01 -0.13; claim:relation:track 0.15 -0.01 -0.13;
inner:update -0.07 0.39 -0.32; inner:finish -0.03 0.25 -0.22; verb:research -0.03 -0.04 0.07;
obj:conditions 0.05 -0.03 -0.02; claim:relation:research -0.03 -0.08 0.11; verb:plan -0.86 0.97 -0.11;
claim:relation:speak_of -0.28 -0.06 0.33; inner:make -0.24 -0.06 0.3; under:make -0.51 -0.1 0.61;
claim:relation:like_to_know -0.08 -0.05 0.14; verb:hike -0.25 -0.04 0.29; obj:trails -0.27 -0.03 0.3;
claim:relation:can_suggest -0.06 -0.01 0.08; verb:move 0.13 0.09 -0.23; obl:apartment 0.2 -0.01 -0.18;
verb:area -0.29 -0.02 0.31; claim:relation:be_in -0.24 -0.05 0.29; under:understand 0.43 -0.04 -0.39;
opener:like -0.13 -0.1 0.23; obj:myself 0.48 -0.02 -0.46; obl-det:each 0.22 -0.14 -0.08;
verb:understand 0.15 -0.03 -0.12; modal:ca 0.16 0.02 -0.18; verb:wait -0.15 0.1 0.06; opener:though -0.12 0 0.13;
obl:bit -0.16 -0.02 0.18; obl:while 0.24 -0.03 -0.22; verb:experiment 0.25 -0.09 -0.16; obl:podcasts 0.1 -0.02 -0.08;
claim:relation:experiment_with 0.01 -0.13 0.12; obl:to -0.35 -0.12 0.47; verb:build 0.1 -0.04 -0.05;
opener:as -0.25 -0.12 0.36; verb:ask -0.17 0.38 -0.2; inner:bring -0.14 -0.05 0.19; verb:bring 0.04 0.32 -0.36;
inner:play 0.07 0.25 -0.32; obj:guitar 0.18 0.02 -0.2; obj-det:his -0.06 0.23 -0.17; obj:tips 0.07 -0.13 0.06;
claim:relation:keep 0.02 0.04 -0.06; obj:program 0.11 0 -0.11; claim:relation:be_called 0.58 -0.03 -0.55;
verb:expand 0.41 -0.05 -0.36; opener:later -0.23 -0.03 0.26; obl:types -0.04 -0.09 0.13; obl:that 0.15 -0.1 -0.05;
inner:good -0.05 -0.17 0.22; opener:forward -0.02 -0.05 0.07; obj:apps 0 0.24 -0.24; claim:many-phrases -0.1 0.15 -0.05;
obj-det:our -0.3 0 0.3; opener:while -0.04 -0.02 0.06; obj:suggestions -0.06 -0.01 0.07; obj-det:all -0.32 -0.04 0.36;
inner:incorporate 0.46 -0.17 -0.29; verb:lean -0.12 0.49 -0.37; obl-with:towards 0.03 0.13 -0.16;
claim:relation:lean -0.01 0.23 -0.22; inner:buy -0.11 -0.09 0.2; obj-det:any -0.01 0.09 -0.08;
claim:relation:create 0.06 -0.07 0.01; inner:kimchi 0.08 0 -0.08; opener:now 0.12 -0.19 0.07; obl:home 0 -0.03 0.03;
verb:enjoy 0.25 -0.02 -0.23; obj:process -0.1 -0.01 0.11; claim:relation:enjoy 0.2 -0.02 -0.18;
obj:recipes -0.26 -0.02 0.28; obj:recipe -0.05 -0.02 0.07; verb:stick 0.31 0 -0.31; opener:usually 0.24 -0.03 -0.2;
verb:explore 0.22 -0.01 -0.21; obj:practices -0.08 -0.01 0.09; obj:group 0.01 -0.04 0.03;
obl-det:every 0.17 -0.02 -0.15; obl:weeks 0.09 0.04 -0.12; verb:curious -0.51 0.14 0.37; obl:today -0.19 0.02 0.17;
claim:relation:include 0 -0.11 0.12; about:dropped -0.19 -0.09 0.29; chat:dropped 0.1 -0.06 -0.03;
inner:hard 0.47 -0.01 -0.45; verb:ready -0.05 -0.07 0.12; verb:worried 0.1 -0.08 -0.02; obj:% 0.04 -0.01 -0.03;
verb:help -0.07 -0.04 0.11; claim:role:amod -0.07 0.23 -0.16; obl:platforms -0.15 -0.14 0.29; obj:lot -0.14 -0.05 0.19;
obl:something -0.04 -0.08 0.12; verb:explain -0.02 -0.06 0.08; verb:play 0.21 -0.03 -0.18; opener:then -0.13 -0.17 0.29;
verb:choose 0.3 -0.01 -0.29; obj:character -0.11 0 0.11; under:find 0.13 -0.01 -0.12; obl:sessions -0.1 -0.01 0.11;
inner:come 0.29 -0.07 -0.22; opener:when 0.06 -0.38 0.32; inner:do -0.1 0.05 0.05; verb:wear -0.22 -0.01 0.23;
verb:mean -1.12 0.96 0.16; verb:talk -0.21 -0.13 0.34; opener:where 0.17 -0.05 -0.12; inner:improve 0.25 -0.31 0.05;
claim:relation:try_to_improve 0.26 -0.06 -0.21; inner:keep -0.41 0.19 0.22; obj:bag 0.21 0 -0.21;
obj:job -0.01 -0.01 0.02; obl:space 0.34 0.02 -0.36; role:csubj -0.42 -0.02 0.43; verb:invest 0.19 -0.04 -0.15;
under:important -0.22 -0.02 0.24; inner:give -0.17 0.07 0.1; obl:education -0.17 -0.07 0.24;
claim:relation:invest_in 0.04 -0.02 -0.03; verb:agree 0.28 -0.07 -0.21; opener:totally -0.02 -0.03 0.05;
obl:strength -0.08 0.07 0.02; obl-det:our 0.28 -0.22 -0.06; claim:relation:look_forward_to -0.13 -0.08 0.22;
claim:relation:plan 0.03 0.23 -0.26; claim:relation:be_excited_to_learn -0.1 0.11 -0.01; obl:reality 0.23 -0.06 -0.17;
verb:reach_out -0.08 0.2 -0.12; obl:samantha -0.06 0.24 -0.18; claim:relation:reach_out_to -0.04 0.08 -0.03;
obl:package 0 0.1 -0.1; obl:people -0.51 0.1 0.41; obl-det:6 -0.1 0.09 0.01; obj:ideas -0.1 0.26 -0.16;
verb:buy -0.37 0.2 0.17; verb:prefer 1.33 -0.42 -0.91; obj:courses 0.01 -0.09 0.07;
claim:relation:prefer 0.16 -0.01 -0.16; inner:mention -0.21 -0.03 0.25; be:SYM -0.26 -0.02 0.27;
claim:relation:used_to_be 0.16 0 -0.15; opener:quite -0.23 -0.02 0.25; verb:create 0.19 0.01 -0.2;
obl:them 0.04 -0.06 0.03; obl-det:PRP -0.08 -0.27 0.35; obl:example -0.11 0.07 0.04; verb:join 0.14 -0.01 -0.13;
verb:catch 0.11 -0.01 -0.1; obj-det:your -0.05 0 0.06; verb:read 0.1 -0.02 -0.09; inner:spend -0.09 -0.04 0.13;
inner:replace -0.24 0.05 0.18; inner:sell -0.19 0.17 0.02; obl:month -0.11 0.24 -0.13; verb:improve 0.28 -0.13 -0.15;
claim:relation:improve 0.02 -0.01 -0.01; inner:track -0.06 0.01 0.05; obj:day 0.26 0 -0.26; obj:coffee -0.04 0 0.04;
obj-det:their -0.04 -0.05 0.09; inner:follow -0.18 0.22 -0.04; verb:meet 0.15 -0.1 -0.05; obj:strength 0.1 -0.01 -0.09;
obj:exercises 0.05 0.05 -0.1; under:realize 0.12 -0.03 -0.09; obj:pieces 0.03 -0.01 -0.02; opener:in 0 -0.03 0.03;
verb:realize 0.06 -0.03 -0.03; opener:however -0.17 0.04 0.12; be:PROPN 0.29 -0.15 -0.14;
inner:confident -0.15 -0.18 0.33; obl:sounds -0.12 -0.01 0.12; obl:game 0.1 -0.02 -0.08;
claim:relation:go_to 0.31 -0.04 -0.28; verb:install 0.27 -0.01 -0.26; claim:relation:install 0.11 0 -0.1;
obj:lots 0.17 0 -0.17; be:PRON 0.04 -0.01 -0.03; obj:party -0.13 0.31 -0.18; opener:why 0.46 -0.02 -0.44;
obj:combination -0.16 0 0.16; claim:relation:used_to_use -0.17 0 0.18; verb:happy -0.05 -0.07 0.11;
verb:stumble 0.28 -0.1 -0.18; opener:maybe -0.23 -0.01 0.24; obl-with:upon 0.28 -0.1 -0.18; obj:mix -0.11 -0.01 0.13;
claim:relation:read 0.27 -0.02 -0.25; obl:fiction 0.17 -0.02 -0.15; opener:regularly 0.04 0 -0.03;
be:VERB -0.5 0.47 0.03; verb:check -0.2 0.13 0.07; verb:able 0.35 -0.07 -0.28; under:glad 0.18 0.03 -0.21;
claim:relation:try_to_keep -0.1 0.22 -0.12; obl:work 0 -0.1 0.11; opener:often 0.07 -0.02 -0.05;
claim:relation:find -0.11 -0.02 0.13; be:NUM 0.24 -0.1 -0.15; verb:careful 0.21 -0.01 -0.21;
opener:more 0.28 -0.14 -0.14; obl:what -0.2 -0.09 0.28; obl-det:WP 0.13 -0.09 -0.04; obl:then -0.2 0 0.2;
inner:focus -0.07 0.41 -0.34; verb:part -0.01 -0.03 0.04; obl:group -0.15 -0.05 0.2; under:remember -0.01 -0.01 0.02;
verb:spend -0.3 -0.01 0.31; obj-det:30 0.07 -0.01 -0.07; verb:remember 0.15 -0.01 -0.14; verb:leave -0.1 0.25 -0.15;
asked -0.48 -0.03 0.51; obj:you -0.08 -0.03 0.11; obl:reserve 0.04 0.01 -0.05; verb:spot -0.12 0 0.13;
verb:active -0.02 -0.03 0.04; inner:focuse -0.01 -0.01 0.02; obl:times -0.21 0 0.22; obl-det:three 0.14 -0.02 -0.12;
obj:minutes 0.02 0.12 -0.14; verb:manage 0.13 -0.04 -0.09; inner:inspire 0 -0.07 0.07; verb:proud 0.03 -0.02 0;
inner:stick -0.07 -0.04 0.11; under:hear -0.27 0.28 -0.01; verb:list -0.02 0.22 -0.2; inner:consider -0.08 0.31 -0.23;
obj:boots 0.08 0.21 -0.29; obl-det:120 -0.09 0.19 -0.1; claim:relation:want_to_make -0.02 -0.3 0.32;
claim:relation:mean_to_try_out -0.05 0.18 -0.13; obl:it -0.48 -0.02 0.51; obl:studio 0.06 -0.03 -0.03;
obl-with:after -0.12 0.04 0.08; obj:goals -0.27 -0.02 0.29; obl-det:WDT 0.07 -0.05 -0.03; obj:mentor 0.11 0 -0.11;
inner:collect -0.07 -0.04 0.11; obj:luck 0.35 0 -0.35; opener:even 0.14 -0.05 -0.09; inner:use 0.07 -0.33 0.26;
verb:sell 0.07 -0.01 -0.07; claim:relation:sell 0.05 0 -0.05; verb:raise 0.01 -0.05 0.03; obj:getaway -0.04 0.06 -0.02;
modal:might -0.14 0.14 -0.01; obl:class 0.07 0.05 -0.12; obj:tutorials -0.18 0.2 -0.03; verb:run 0.09 0.12 -0.22;
verb:hope -0.48 -0.01 0.49; obj-det:12 -0.19 0 0.2; obl:event -0.03 0 0.03; inner:run -0.04 -0.12 0.16;
verb:comfortable 0.11 -0.01 -0.11; opener:currently 0.09 0.04 -0.13; obj-det:these -0.1 -0.09 0.19;
obj:kids -0.21 -0.05 0.26; claim:role:nsubj -0.25 -0.18 0.43; inner:capture -0.04 -0.16 0.19;
opener:personally -0.07 -0.03 0.1; obj:edition -0.34 0 0.34; claim:relation:receive 0.04 -0.02 -0.01;
inner:clean -0.28 0.1 0.18; verb:miss -0.04 -0.01 0.05; inner:automate 0.09 0.28 -0.38; obj:hours 0.23 -0.01 -0.22;
obj-det:10 0.08 -0.01 -0.08; inner:reduce 0.36 -0.01 -0.35; verb:apply 0.07 -0.01 -0.05; verb:expect -0.04 -0.01 0.05;
verb:seem -0.07 -0.02 0.09; obj:bird -0.01 0.04 -0.03; obl:trip 0.16 -0.11 -0.04; obl:saturday 0.21 -0.06 -0.16;
opener:about -0.09 -0.11 0.2; verb:watch 0.1 -0.03 -0.07; obj:tournament -0.1 0.14 -0.03;
claim:relation:watch -0.25 -0.02 0.27; verb:thrilled 0.32 -0.13 -0.2; opener:all 0.19 -0.01 -0.18;
verb:follow 0.14 -0.13 -0.01; inner:cover 0.03 -0.09 0.05; obj:car 0.29 0 -0.28; opener:on -0.06 -0.22 0.28;
obl:course -0.19 0.03 0.17; obl:masterclass -0.18 -0.12 0.3; under:tell -0.1 0 0.11; obj-det:an 0.45 -0.31 -0.14;
verb:lend -0.13 -0.01 0.14; verb:complete 0.22 -0.01 -0.21; obj-det:NAME 0.57 0.01 -0.56; verb:younger -0.26 0 0.26;
obl:gochujang 0.1 -0.01 -0.1; verb:speak -0.02 -0.01 0.03; opener:around -0.28 0.2 0.08; obj:something -0.19 -0.01 0.2;
be:ADV -0.44 -0.07 0.51; obl:one -0.2 -0.01 0.21; obj:hand 0.13 -0.01 -0.12; claim:relation:do_of 0.17 0 -0.16;
obl:city -0.2 0.08 0.13; opener:pretty 0.34 -0.03 -0.31; obl:documents 0.21 0 -0.21; modal:should -0.36 -0.18 0.54;
obl-det:their -0.28 0.04 0.24; opener:never 0.02 -0.05 0.02; inner:leave -0.14 0.03 0.1;
claim:relation:run -0.02 0.09 -0.07; obj:team -0.05 0 0.05; obl:role 0.05 0.14 -0.19; obj:engineers 0.08 0.07 -0.15;
obj-det:4 0.1 0.05 -0.16; obl:manager 0.08 0.07 -0.15; claim:role:appos 0.16 -0.07 -0.09; obl:center -0.04 -0.08 0.13;
verb:score -0.19 -0.02 0.21; claim:role:nummod 0.04 0.24 -0.28; verb:post -0.04 -0.01 0.05; obj-det:two 0 -0.04 0.04;
obl:trends -0.09 0 0.09; verb:become -0.11 -0.01 0.12; obj:sound -0.25 -0.07 0.32; inner:suggest -0.03 0.11 -0.08;
obl:friends 0.24 0 -0.24; verb:group -0.15 -0.02 0.17; talk 0.27 -0.57 0.23; talk:speaker 0.24 -0.28 0.04;
talk:past 0.6 -0.54 -0.12; talk:group 0.06 -0.35 0.29; obj:chance 0.13 0 -0.12; talk:be:ADJ -0.18 0.27 -0.09;
talk:present -0.06 -0.12 0.16; verb:thankful 0.04 -0.03 -0.01; obl:community 0.08 -0.01 -0.07; inner:become 0.2 0 -0.2;
claim:relation:used_to_love 0.09 0 -0.09; talk:owned 0.29 0.01 -0.3; talk:modal:can -0.2 -0.08 0.29;
talk: -0.2 -0.25 0.45; obj:impact 0.1 -0.19 0.09; talk:negated 0.02 -0.18 0.16; talk:progressive -0.14 -0.15 0.28;
verb:give_up -0.06 -0.03 0.1; talk:be:NOUN -0.25 0.19 0.06; talk:modal:'ll -0.13 -0.14 0.27; obj:best -0.04 0 0.04;
obl:year 0.44 -0.04 -0.41; obj:yoga 0.06 0 -0.06; talk:perfect -0.08 0.08 0.01; talk:dropped -0.3 -0.01 0.31;
verb:lose 0.03 -0.01 -0.02; be:ADP -0.05 -0.05 0.1; talk:be:ADP -0.05 -0.05 0.1; verb:up -0.08 -0.05 0.13;
obl:challenge -0.08 -0.05 0.13; verb:gon -0.3 -0.19 0.48; verb:bet -0.11 -0.02 0.13; obj:memories -0.06 0 0.06;
talk:named 0.16 -0.2 0.04; verb:important 0.15 -0.14 -0.02; obl:me 0.35 -0.16 -0.19; opener:too 0.03 -0.09 0.06;
obj:concert 0.19 0 -0.19; under:try 0.34 -0.21 -0.13; obl:walk -0.02 -0.02 0.04; verb:take_up 0.25 0 -0.25;
verb:tell -0.15 -0.01 0.15; talk:be:VERB -0.02 0.14 -0.13; verb:passionate 0.35 -0.18 -0.18;
verb:determined -0.09 0.67 -0.58; talk:modal:should 0.04 -0.08 0.04; verb:lucky 0.33 -0.03 -0.3; verb:days -0.28 0 0.28;
verb:chat -0.1 0 0.1; obl:shelter 0.19 -0.06 -0.13; verb:volunteer 0.22 -0.05 -0.17; verb:keen -0.21 0.11 0.1;
opener:together -0.23 -0.1 0.33; verb:count -0.27 0 0.27; obj:care -0.07 -0.02 0.08; opener:much 0.4 -0.01 -0.39;
modal:could -0.07 -0.11 0.18; talk:modal:could -0.04 -0.07 0.11; verb:visit -0.08 -0.03 0.11; obj:hospital 0.07 0 -0.07;
obj-det:veteran 0.07 0 -0.07; obj:people -0.26 -0.03 0.29; modal:wo -0.13 -0.02 0.15; talk:modal:wo 0.1 -0.02 -0.08;
obl:you 0.11 -0.01 -0.1; obl:counseling -0.07 0.35 -0.28; claim:relation:be_into 0.09 0.07 -0.16;
talk:modal:'d -0.15 0.24 -0.09; inner:support -0.15 0.39 -0.25; talk:be:ADV -0.2 -0.05 0.25; verb:off -0.53 -0.16 0.69;
verb:thing 0.21 0 -0.2; obj-det:IN -0.33 0 0.33; inner:push -0.21 -0.11 0.33; obj:weekend -0.37 0 0.38;
opener:after 0.15 0 -0.15; obj:difference -0.27 -0.01 0.28; obl:fundraiser -0.1 0.14 -0.04;
talk:modal:ca 0.26 -0.08 -0.19; inner:volunteer 0.05 0.06 -0.11; talk:passive -0.15 -0.08 0.24;
verb:stoke -0.01 -0.01 0.02; talk:modal:will -0.07 -0.02 0.09; obl:end -0.03 0 0.04; verb:stay 0.08 -0.15 0.07;
inner:optimistic -0.07 0 0.07; verb:pump -0.18 -0.04 0.22; claim:relation:join 0.08 -0.01 -0.07; obj:ups 0.18 0 -0.18;
obj-det:its 0.18 0 -0.18; obl:accident 0.18 0 -0.18; opener:ever 0.4 -0.07 -0.33; obl:park 0.03 0.06 -0.09;
obl:corner 0.15 0 -0.14; verb:grateful 0.02 -0.03 0.01; verb:say -0.16 0 0.16; verb:moon -0.37 -0.06 0.43;
obj:this -0.22 0 0.23; verb:support -0.28 -0.02 0.3; under:let 0.05 0 -0.04; obl-det:your -0.05 -0.01 0.06;
inner:bike 0.15 0 -0.15; verb:awesome -0.04 0 0.05; talk:person -0.11 -0.02 0.13; verb:teach 0.1 0 -0.1;
inner:be -0.04 0 0.04; opener:here 0.13 -0.01 -0.13; verb:believe 0.04 -0.11 0.07; inner:hike 0.24 -0.01 -0.23;
obj:stories 0.2 0 -0.2; inner:join 0.03 -0.18 0.15; obl:kids -0.26 0.22 0.04; inner:ready -0.02 0.2 -0.17;
opener:super 0 -0.15 0.16; verb:quit 0.15 0 -0.14; obl:parade 0.07 0 -0.06; inner:fall -0.21 0 0.21;
verb:chase -0.4 -0.01 0.41; verb:accept -0.06 -0.01 0.06; inner:great 0.14 -0.02 -0.13; obj:support -0.05 0 0.05;
obj:bit -0.09 0 0.1; obl:artist -0.02 0 0.02; obj:picture 0.2 -0.01 -0.19; obj:feeling -0.11 -0.01 0.12;
verb:graduate 0.13 0 -0.12; inner:ensure -0.08 -0.02 0.1; obj:progress -0.15 -0.01 0.16; under:remind -0.05 0 0.06;
verb:picture -0.05 0 0.05; obj:life -0.02 -0.01 0.02; obl-with:without 0.12 -0.02 -0.1; verb:content 0.06 -0.02 -0.03;
opener:last -0.08 0 0.08; verb:paint -0.28 0 0.28; obj-det:VBG 0.03 -0.01 -0.02; obj:poses 0.23 0 -0.23;
opener:down -0.08 -0.05 0.13; talk:be:PRON -0.05 0 0.05; verb:decide 0.11 -0.1 -0.01; verb:guess 0.11 -0.06 -0.06;
verb:let 0.31 -0.08 -0.22; under:guess 0.27 -0.06 -0.21; verb:alone -0.05 0 0.05; obj:blast 0.19 0 -0.19;
obl:memories -0.03 0 0.03; obj:dreams 0.03 -0.09 0.06; verb:sign_up 0.07 -0.01 -0.06; obj:anything -0.19 -0.01 0.2;
inner:motivate -0.02 -0.03 0.05; verb:face 0.03 0 -0.03; obl:support -0.29 -0.02 0.32; verb:put 0.03 -0.02 -0.01;
inner:let 0.43 -0.03 -0.4; verb:fan 0.41 -0.03 -0.38; inner:chat 0.03 0.01 -0.04; inner:outdoor 0.13 -0.01 -0.12;
obj:show 0.21 -0.03 -0.19; under:great -0.04 0 0.04; verb:amazing -0.13 -0.01 0.14; obj:plenty 0.23 0 -0.23;
obl:kid -0.16 0 0.16; inner:show -0.29 -0.08 0.37; obj:painting 0.27 0 -0.27; opener:finally 0.35 0 -0.34;
opener:again -0.01 -0.03 0.04; obl:project -0.01 -0.34 0.35; opener:both -0.32 0 0.32; verb:good -0.04 -0.01 0.05;
obj:way -0.17 0 0.18; obl:place 0.12 -0.03 -0.09; inner:adopt -0.06 0.25 -0.19; verb:pass -0.16 -0.05 0.21;
verb:reach -0.16 -0.02 0.18; inner:compete 0.12 0 -0.11; claim:relation:used_to_compete_in 0.1 0 -0.1;
inner:collaborate -0.12 -0.02 0.15; verb:show -0.24 -0.05 0.29; obl:life -0.21 -0.03 0.24; obj:line 0.07 0 -0.07;
inner:clarinet 0.16 -0.01 -0.14; claim:relation:play 0.16 -0.01 -0.15; verb:young -0.22 0 0.22; obj:gym 0.04 0 -0.04;
inner:positive -0.11 -0.08 0.19; verb:handle 0.1 0 -0.1; opener:sometimes 0.31 -0.03 -0.28; opener:to -0.95 0.8 0.15;
obl:poetry 0.07 0 -0.07; verb:stuck -0.21 -0.02 0.23; obl:beach -0.08 0 0.08; verb:busy 0.14 -0.06 -0.08;
verb:participate 0.09 -0.02 -0.07; claim:relation:participate_in 0.04 -0.01 -0.03; obl:family -0.15 -0.07 0.22;
obl:love -0.01 -0.01 0.02; obl:office 0.25 -0.06 -0.19; obl-with:than -0.24 -0.02 0.25;
obl:volunteering 0.2 -0.04 -0.16; obj:sense -0.35 0 0.35; inner:lend -0.05 0.2 -0.16; inner:feel 0.22 -0.07 -0.15;
obj:church 0.04 0 -0.04; inner:identify -0.03 -0.01 0.04; obj:v5.3.0 0.31 -0.02 -0.29; obl:layout 0.12 -0.02 -0.11;
obl-det:website 0.08 -0.01 -0.07; verb:implement -0.1 -0.12 0.23; obj:navbar 0.4 -0.04 -0.36;
claim:relation:implement -0.11 -0.04 0.16; obj:sections 0.51 -0.01 -0.51; verb:target 0.22 -0.09 -0.13;
obj:layout 0.25 -0.01 -0.24; obl:resolution 0.25 -0.01 -0.24; claim:relation:target 0 -0.19 0.19;
verb:define 0.14 -0.15 0; obj:features 0.32 -0.14 -0.18; claim:relation:define -0.04 -0.08 0.12;
obj:approach 0.17 -0.07 -0.1; inner:design -0.03 0.09 -0.06; obj:sqlite 0.37 -0.01 -0.37; obl:database 0.24 0 -0.23;
claim:relation:choose 0.11 0 -0.11; obl:setup -0.16 -0.01 0.17; verb:design 0.03 -0.02 -0.01;
inner:handle -0.04 0.23 -0.18; inner:template 0.21 -0.06 -0.16; obj:jinja2 0.15 -0.03 -0.12; inner:set -0.28 0.07 0.21;
claim:relation:try_to_set_up -0.02 0.14 -0.12; claim:relation:want_to_create -0.07 0.06 0.01; obj:packages -0.12 0 0.12;
inner:configure -0.26 0.05 0.21; verb:set_up 0.44 -0.11 -0.33; opener:correctly -0.04 -0.01 0.05;
claim:relation:try_to_autocomplete -0.01 -0.14 0.15; verb:achieve 0.23 0.39 -0.62; obj:coverage 0.12 0.42 -0.54;
verb:cover -0.1 -0.01 0.1; opener:specifically -0.24 -0.26 0.49; obj:trouble -0.7 -0.44 1.14; obj:concepts -0.03 0 0.04;
obl:problem -0.04 0 0.04; inner:optimize -0.38 -0.05 0.43; obj:concept -0.03 0 0.03; obj:part -0.04 -0.01 0.05;
inner:implement -0.26 0.42 -0.16; claim:relation:try_to_implement -0.08 0.17 -0.09; inner:integrate -0.09 0.09 0;
obj:code -0.23 0.04 0.19; inner:lose -0.05 0.31 -0.25; obj-det:CD -0.01 -0.05 0.06; claim:relation:reach -0.03 0 0.03;
obj:app -0.21 -0.04 0.24; obl:platform 0.22 -0.01 -0.21; obl-det:any 0.16 -0.04 -0.11; obj:gunicorn -0.34 -0.01 0.34;
inner:calculate -0.14 -0.14 0.28; inner:select -0.01 0.25 -0.24; claim:relation:try_to_calculate -0.07 0.13 -0.06;
verb:equal -0.13 -0.01 0.14; obl:10 -0.04 -0.04 0.08; inner:understand -0.12 -0.08 0.21; obj:function -0.13 -0.03 0.16;
obl:% 0.06 -0.02 -0.04; obl-det:80 0.3 -0.01 -0.29; claim:relation:improve_from 0.29 -0.15 -0.14;
obj:methods -0.16 -0.05 0.21; inner:apply -0.36 -0.08 0.44; obj:deployments 0.04 0 -0.04; obl:ones 0.05 0 -0.05;
obl-with:over 0.29 -0.02 -0.27; inner:solve -0.1 0.56 -0.46; claim:relation:try_to_solve -0.02 0.23 -0.22;
verb:shorten 0.11 0 -0.11; obl:calculations -0.03 0 0.03; inner:combin 0.35 -0.15 -0.21; verb:enable -0.2 0 0.2;
inner:verify -0.03 -0.44 0.47; verb:correct -0.11 -0.03 0.15; obj:response -0.1 -0.04 0.13;
claim:relation:hear_of -0.02 0 0.02; verb:test 0.07 0 -0.07; obl:request -0.28 0.49 -0.21; obl:4 -0.22 0 0.22;
obl-det:LS -0.22 0 0.22; claim:relation:not_use -0.1 0 0.11; inner:deploy -0.03 0 0.04;
claim:relation:try_to_deploy -0.01 0.05 -0.05; obj:domain 0.31 -0.01 -0.3; obl:design -0.09 0.17 -0.08;
obl:factor -0.09 0.17 -0.08; verb:calculate -0.09 0 0.09; inner:cm -0.08 0 0.08; obj:lengths -0.08 0 0.08;
verb:compare -0.24 -0.06 0.3; under:consider 0.23 -0.05 -0.19; obj:package 0.23 -0.03 -0.2;
claim:relation:try_setting_up -0.08 -0.07 0.15; about:addressee -0.02 0 0.02; chat:addressee -0.02 0 0.02;
verb:provide -0.15 -0.2 0.34; obl:integration -0.16 0.47 -0.31; obj:review -0.04 0.18 -0.13;
obl:transactions.py 0.11 0 -0.11; obl:routes 0.11 0 -0.11; obj:error -0.17 -0.06 0.23; opener:below 0.02 0 -0.02;
obj:implementation -0.28 0 0.28; verb:obtain -0.04 0 0.04; obj:key -0.15 -0.01 0.16; inner:address -0.04 0 0.04;
obl:file -0.04 0 0.04; inner:remove -0.03 -0.01 0.03; verb:experience -0.08 0 0.08; obj:issues -0.22 -0.06 0.29;
claim:relation:experience -0.04 0 0.04; obl:issues -0.27 -0.07 0.34; inner:upgrade -0.06 -0.15 0.21;
obl:fact 0.58 -0.06 -0.52; obl-with:across -0.1 -0.02 0.12; obl:triangles -0.02 -0.14 0.16;
verb:accessible -0.06 -0.13 0.2; obj:components -0.05 -0.01 0.06; claim:relation:try_to_optimize -0.13 0.03 0.1;
obj:strategy 0.5 -0.02 -0.48; obj:city 0.57 0 -0.57; obl:feature 0.55 -0.04 -0.5; obj:errors -0.13 -0.01 0.14;
under:have -0.02 -0.01 0.02; obl:rate 0.24 -0.02 -0.21; obl-with:above 0.07 0 -0.07; obl:problems -0.21 -0.01 0.22;
obl:sprint -0.01 -0.23 0.25; obl:deadline 0.24 -0.08 -0.15; obj:html5 0.27 -0.03 -0.24; obl:css3 0.07 -0.02 -0.05;
obl:v5.3.0 0.07 -0.02 -0.05; obl:website 0.07 -0.02 -0.05; verb:reduce -0.1 0 0.11; obj:sizes -0.07 0 0.07;
obl:kb -0.18 -0.02 0.2; obl-det:300 -0.17 -0.02 0.19; obl:180 -0.07 0 0.07; obl:ways -0.03 0.12 -0.09;
inner:initialize -0.04 0.11 -0.06; inner:confirm 0 -0.13 0.13; obj:mistake -0.1 0 0.1; inner:prove -0.05 0.16 -0.11;
claim:relation:try_to_prove -0.03 0.07 -0.04; obj:numbers -0.13 0.13 -0.01; obj:software -0.13 0.13 0;
verb:configure -0.09 -0.01 0.1; obj:file -0.23 -0.01 0.24; inner:import -0.02 -0.01 0.03; obl:scratch -0.02 0 0.02;
claim:relation:start_from -0.04 0 0.04; verb:write 0.05 0.14 -0.19; verb:secure -0.02 -0.01 0.03;
obl:images -0.04 0 0.05; verb:maintain -0.03 -0.01 0.04; inner:uptime -0.05 -0.07 0.12; inner:balance -0.01 0.32 -0.31;
obj:operationalerror -0.17 0 0.17; obj:tables 0.08 -0.01 -0.08; obj:flask 0.23 -0.05 -0.18;
claim:relation:try_to_create -0.07 0.1 -0.03; obl:app 0.32 -0.03 -0.29; obj:python 0.3 0 -0.3;
inner:meet 0.24 0.17 -0.41; obj:18/20 0.21 0 -0.21; obl:grade 0.13 0 -0.13; obj:labels 0.1 -0.06 -0.03;
obj:guidelines -0.16 0 0.16; obj:navigation -0.07 0 0.07; obj:tests -0.05 -0.05 0.11; obl:9 -0.02 -0.04 0.06;
under:want -0.13 -0.01 0.14; inner:label -0.04 0 0.04; obj:structure -0.04 0 0.04; obj:up 0.13 0 -0.13;
obj-det:RP 0.13 0 -0.13; obj:pattern 0.39 0 -0.39; under:say 0.17 -0.02 -0.14; verb:responsive -0.03 0 0.04;
opener:well 0.17 0 -0.16; obl:devices -0.29 -0.07 0.36; inner:return 0 0.05 -0.05;
obj:@app.errorhandler -0.1 -0.01 0.11; inner:structure -0.01 -0.02 0.03; obj:delay -0.4 -0.02 0.42;
obj-det:7 0.07 0 -0.07; obj:promise -0.09 -0.01 0.11; verb:study 0.15 -0.25 0.1; obj:geometry 0.12 -0.01 -0.11;
claim:relation:study -0.04 -0.12 0.16; claim:relation:never_complete 0.08 0 -0.08; inner:compare 0.34 -0.13 -0.21;
opener:given 0.12 0 -0.12; obl:formulas 0.11 0 -0.11; inner:score 0.07 0 -0.07; inner:complete 0.27 0 -0.27;
obj:quiz 0.07 0 -0.07; obl-det:70 -0.04 0 0.04; obj-det:90 0.07 0 -0.07; obl:accuracy -0.18 0 0.18;
obj:2 -0.26 -0.01 0.26; inner:dive -0.01 -0.08 0.09; inner:interest -0.01 -0.08 0.09; verb:finalize 0.26 -0.07 -0.19;
obj:database_url -0.09 0 0.09; verb:set -0.2 0.23 -0.03; obj:production -0.12 0 0.12; obj-det:'' -0.12 0 0.12;
obl:workers 0.06 -0.01 -0.06; obl-det:3 -0.12 -0.01 0.12; obj:class 0.08 0.42 -0.5; obl:suite 0.03 -0.02 -0.02;
inner:test -0.01 -0.24 0.24; obj:° -0.26 -0.01 0.28; verb:struggle -0.33 -0.16 0.48; verb:unsure -0.02 -0.01 0.02;
obj:size 0.16 0 -0.15; verb:call 0.23 -0.01 -0.22; claim:relation:be_aged 0.22 0 -0.22; obl:monday 0.33 -0.08 -0.24;
claim:relation:live_in 0.2 -0.01 -0.19; verb:live 0.32 -0.05 -0.27; obj:urdu 0.16 -0.01 -0.15;
obl:friday -0.2 -0.03 0.23; obl:hours -0.02 -0.05 0.07; obl-det:two -0.17 -0.01 0.18; verb:own -0.34 0 0.34;
obj-det:JJ -0.06 -0.01 0.07; obj:cilantro 0.12 -0.01 -0.12; obl:years -0.16 -0.01 0.17; obl:card -0.2 0 0.2;
claim:relation:hate 0.27 0 -0.27; claim:relation:want 0.11 -0.08 -0.03; obj:shop -0.07 0 0.07; obl:2016 0.14 0 -0.14;
obl:may 0.1 0 -0.1; verb:walk 0.19 -0.05 -0.14; obl:weekends 0.05 0 -0.05; claim:relation:meet 0.18 -0.07 -0.11;
verb:marry 0.24 0 -0.24; verb:hate 0.15 0 -0.15; claim:relation:buy 0.06 0 -0.06; verb:eat 0.05 -0.01 -0.04;
opener:meanwhile 0.22 -0.01 -0.21; opener:btw 0.03 -0.01 -0.02; obj:school -0.06 0 0.06; obl:homework -0.02 -0.01 0.03;
verb:born 0.02 0 -0.01; obj:parrot 0.11 0 -0.11; opener:off 0.06 0 -0.05; obj:gin 0.04 -0.02 -0.02;
obl-det:all 0.26 -0.03 -0.23; obl-det:2 -0.05 0 0.05; verb:adopt 0.24 -0.01 -0.23; claim:relation:book 0.06 -0.06 0.01;
verb:process 0.39 -0.07 -0.32; obj:homeowners 0.32 -0.01 -0.31; obl-det:NNP -0.24 -0.07 0.31; verb:affect -0.13 0 0.13;
obl:months -0.02 -0.03 0.04; verb:offer -0.22 0.19 0.03; obj:classes -0.25 0 0.26; verb:inspire 0.17 -0.07 -0.11;
obl:importance -0.15 -0.06 0.21; obl:gym -0.05 -0.03 0.09; inner:attend 0.1 0.05 -0.15; obj:u2 -0.25 0 0.25;
obj:place 0.17 0 -0.17; obl:morning -0.04 -0.02 0.06; obj:changes -0.13 0 0.13; obl:area 0.04 -0.05 0.01;
obl:experience -0.16 -0.07 0.23; inner:draw 0.31 -0.01 -0.3; obj:level 0.01 -0.12 0.11; obj:updates 0.14 0 -0.14;
obl-det:VB 0.01 0.11 -0.13; obl:colleague 0.05 -0.16 0.11; claim:relation:have_been_to 0.11 -0.01 -0.1;
claim:relation:not_be -0.11 -0.02 0.14; obj:expenses 0.27 -0.01 -0.26; obl:run 0.03 -0.01 -0.02;
obl:thesis 0.24 -0.01 -0.24; obl-with:including 0.48 -0.02 -0.46; verb:familiar 0.22 -0.02 -0.2;
verb:subscribe -0.02 -0.05 0.08; opener:additionally 0.19 0.08 -0.27; verb:book 0.07 -0.07 0;
inner:dedicate 0 0.09 -0.09; obj:lesson 0.12 0 -0.12; obl:advice -0.12 -0.14 0.26; obj:items 0.02 0.4 -0.42;
obl:photos -0.31 -0.07 0.38; claim:role:parataxis 0.02 -0.02 0; obl:lot 0.63 -0.21 -0.42; obj:projects -0.27 -0.01 0.28;
verb:practice -0.4 -0.01 0.41; obj:fitbit 0.05 0 -0.05; obl-det:10 -0.06 -0.01 0.07; obl:journey 0.09 -0.01 -0.08;
verb:house -0.14 0.2 -0.06; obj:issue -0.04 -0.04 0.08; obl:building -0.28 -0.09 0.37; obl-det:VBZ -0.09 -0.01 0.11;
verb:15 0.21 -0.04 -0.17; obl-with:before 0.07 -0.07 -0.01; under:use -0.04 0 0.04;
claim:relation:provide -0.04 -0.08 0.12; verb:recommend 0.03 0 -0.02; inner:categorize -0.3 0.09 0.2;
obj:tags -0.04 0.02 0.02; obl:brush 0.21 -0.02 -0.2; obj:tea 0.02 0 -0.02; obl:some -0.21 -0.01 0.22;
obl:store -0.26 -0.01 0.27; obj:session 0.22 -0.07 -0.15; obl:15th 0 -0.02 0.01; inner:back -0.32 0.23 0.09;
verb:rely 0.08 -0.02 -0.07; verb:fix -0.04 0 0.04; obl:review -0.12 0.09 0.03; modal:would -0.18 0 0.18;
obl:party -0.3 -0.01 0.31; obj-det:15 -0.17 0 0.17; obl-det:60 0.15 0 -0.15; obl:dancing 0.07 0 -0.07;
obj:bootstrap 0.27 -0.03 -0.24; obl:styling 0.12 -0.02 -0.1; obj:v29 0.14 -0.01 -0.13; obj:link -0.08 0 0.08;
obl-with:= -0.18 -0.13 0.31; obj:javascript 0.28 -0.01 -0.28; obj:v2.5 0.16 -0.04 -0.12; verb:identify -0.1 0 0.1;
obj:triangle 0.04 0 -0.04; obj:actions 0.23 -0.02 -0.21; claim:relation:set_up -0.16 -0.03 0.18;
verb:criterion -0.09 -0.03 0.11; verb:encounter -0.05 -0.04 0.09; obj:database -0.14 0 0.14;
claim:relation:try_using -0.15 -0.05 0.2; obj:v2 0.12 -0.02 -0.11; obj:example -0.05 0 0.05;
obj:formula -0.22 -0.03 0.24; obl:calculation -0.16 0 0.16; verb:solve -0.28 -0.01 0.28; obj-det:8 0.07 0 -0.07;
obj:accuracy 0.05 -0.01 -0.05; obj-det:5 -0.06 -0.02 0.09; obl:flask -0.01 -0.01 0.02; obl:suggestions -0.05 -0.04 0.09;
inner:include 0.14 0 -0.14; obj:form -0.07 -0.01 0.08;
`;

/** The weights of the dimensions of a sentence's vector: a line each for keep, intent and drop. */
export const VECTOR_WEIGHTS = [
  `
0 -1.27 0.06 -0.69 -1.6 -0.91 0.71 -1.29 -0.48 -0.73 0.88 0.2 0.34 -0.16 0.39 0 -0.06 0.69 0.51 1.25 0.07 -1.23 -0.33
-0.43 -1.01 -1.05 -0.76 -1.05 1.39 0.88 0.22 -0.35 -0.75 -0.18 -0.67 -0.64 -0.9 0.42 -1.12 0.74 0.82 -0.24 -0.57 -0.41
-0.79 1.35 -0.45 1.39 -0.43 0.43 1.42 -0.01 -1.69 -1.85 -0.21 -1.1 1.54 -1.29 -1.2 0.35 -0.36 -0.17 -1.13 0.81 1.38 0.61
0.6 0.17 -0.68 0.4 -0.99 0.47 0.08 0.11 -1.13 -0.42 0.96 0.5 0.46 0.11 -0.53 0.95 0.22 0.61 0.29 0.44 1.48 -0.29 0.69
-0.02 1.73 -0.62 -0.77 -0.9 0.44 -0.31 -1.06 0.49 0.77 1.21 0.25 2.25 0.53 -0.88 2.14 1.39 1.02 -0.64 -0.85 -0.97 0.31
-2.02 -1.05 0.15 -0.95 -0.53 0.78 -0.3 1.92 -1.03 0.61 -0.45 -2.29 0.87 -1.27 0.58 1.05 -0.77 0.76 1.23 -0.16 -0.64
-0.24 0.64 0.31 -1.07 -1.18 0.02 -0.2 0.54 -1.08 1.81 0.01 -1.59 -1.07 -0.07 0.35 -0.12 0.08 0.52 0.46 -0.96 -2.18 -0.68
-0.14 0.54 -0.31 -0.5 0.99 -1.5 -0.08 -2.36 -0.95 0.57 1.83 -2.2 -1.7 -0.69 -0.63 1.37 1.19 0.86 1.18 -1.42 -0.79 -2.09
0.73 0.73 -0.57 0.09 2.65 0.05 0.59 0.44 -1.39 0.12 0.37 -0.11 1.1 1.65 2.21 -0.33 0.53 -2.19 -1.08 -2.08 0.6 1.5 -0.8
1.04 -0.29 -0.1 0.45 2.03 -0.48 0.38 -0.92 0.43 -0.3 -2.71 0.65 -0.14 -0.75 0 1.56 -0.07 -1.25 -0.48 0.8 0.67 -1.02
-0.56 0.79 -0.08 -0.39 -2.03 -0.57 1.72 1.72 1.75 0.34 1.09 0.84 0.3 -0.81 0.64 -0.09 -0.85 0.71 1.18 -1.29 -1.1 -0.61
2.1 0.94 0.58 -0.97 1 -0.62 -0.44 -1.96 0.47 -1.57 0.52 0.94 -0.18
`,
  `
-1.34 0.98 -0.62 1.47 0.47 -0.63 0.67 -0.4 0.55 0.68 -1.32 -0.93 1.74 0.9 -1.64 -0.28 -1.03 -1.34 0.06 -0.8 -0.1 1.24
-0.24 -0.67 -0.05 0.46 1.91 0.23 -2.34 1.01 0.07 -0.45 1.51 -1.09 1.34 2.42 0.96 0.39 -1.22 -1.09 0.51 1.17 -0.61 -1.43
0.49 -1.98 0.93 -2.13 0.73 -0.04 -1.75 1.31 1.65 1.09 0.26 0.18 0.98 1.22 0.88 0.2 1.32 0.08 1.22 -1.1 -0.36 -1.83 -0.33
-2.11 -0.38 0.75 -0.13 -0.58 0.09 -0.43 0.67 -0.3 -0.95 0.25 -0.24 -0.41 0.59 -0.02 0.48 -0.12 -0.04 -1.75 -1.55 -1.98
0.04 0.14 -2.17 -0.61 0.97 0.79 1.02 -0.13 1.05 0.17 -0.44 -1.51 0.54 -0.75 -1 1.33 -1.55 -1.83 -1.13 0.84 -0.43 -0.06
-0.15 1.96 0.4 -0.19 0.36 1.49 -0.65 1.83 0.34 0.97 0.22 -1.08 0.58 -1.13 -1.43 -0.25 1.74 1.02 -0.59 -1.15 -0.15 -0.39
0.82 -0.28 -0.21 0.05 0.05 0.35 0.26 -0.71 2.9 -1.95 -0.03 1.07 0.85 -1.22 -1.24 1.5 0.9 -0.67 -2.06 0.67 2.84 1.24
-1.78 -1.5 0.19 -0.68 -1.1 1.41 0.07 0.35 0.48 -1.04 -1.52 1.19 2.53 0.21 0.81 -0.99 -0.35 -0.14 -1.07 2.36 -0.19 2.37
-0.81 -0.39 1.45 0.62 -0.51 -0.09 1.57 -1.71 1.92 0.38 0.82 0.1 -1.33 -1.58 -0.35 0.95 0.06 1.48 -0.3 1.04 -0.89 -0.09
-0.71 -0.42 -0.18 0.49 -1.6 0.26 -1.52 -0.86 2.94 0.1 0.26 -0.13 -2.05 0.7 -0.14 0.37 -2.08 -0.34 0.41 1.12 0.86 -1.13
-0.41 -0.02 -2.46 0.13 1.49 2.65 -0.78 -1.01 -0.79 -1.96 -2.06 -1.34 -1.24 -0.88 1.48 0.33 -0.22 0.37 -0.91 -2.2 2.43
0.4 0.14 -0.13 -1.04 2.2 -0.15 -2.65 0.02 0.67 -0.55 0.94 2.53 -0.75 0.31 0.4
`,
  `
0.85 0.44 0.47 -0.68 0.96 1.23 -0.85 1.69 0.44 0.08 0.45 0.79 -1.83 -0.68 1.01 -0.16 0.8 0.66 -0.59 -0.46 0.04 0 0.57
0.55 0.91 0.61 -1.14 0.86 0.82 -1.69 -0.18 0.79 -0.63 1.06 -0.68 -1.49 -0.02 -0.72 1.8 0.46 -1.25 -0.96 0.89 1.69 0.25
0.54 -0.56 0.63 -0.09 -0.39 0.26 -0.99 0.03 0.82 0.02 0.88 -2.47 0.07 0.22 -0.52 -1.01 -0.09 -0.08 0.29 -0.94 1.2 -0.35
1.69 0.9 -0.93 1.01 0.03 -0.19 0.2 0.55 0.71 -0.04 -0.83 -0.32 0.42 -0.06 -0.83 -0.54 -0.49 -0.27 0.98 -0.01 1.96 -0.72
-0.13 0.21 1.18 -0.19 0.53 -1.26 0.38 -0.02 -0.67 -0.27 0.42 -0.85 -1.75 0.29 -0.44 -0.84 0.35 0.05 0.11 1.23 0.8 0.04
0.02 0.91 -0.31 0.41 -0.67 -0.06 -1.41 -2.24 0.08 -0.73 1.52 1.6 0.24 2.53 -0.32 -2.43 0 -0.17 -0.28 0.04 1.02 -0.46
-0.36 -0.16 0.86 1.02 -0.36 -0.05 0.22 -1.08 0.23 0.01 0.52 0.23 0.84 0.86 -1.2 -0.96 0 1.44 0.27 -0.46 -0.55 1.59 0.84
0.07 1.04 0.1 0.06 -0.01 2.02 0.47 0.49 -0.33 1.19 -0.85 0.2 -0.18 -0.39 -0.94 -0.73 -0.23 -0.96 0.91 0.14 0.03 -0.36
-0.87 -0.69 -2.12 0.07 -2.02 1 -0.44 -0.66 -0.7 -0.31 -0.01 -0.09 -1.81 -0.6 -0.67 0.85 1.29 1.07 0.26 -1.37 1.43 -0.65
0.27 -0.36 0.5 -2.3 2.03 0.4 -1.63 -0.48 0.1 2.64 1.08 -0.28 0.89 -0.37 0.31 0.58 0.84 -0.57 -1.48 0.43 1.38 0.6 1.65
0.02 -1.1 -0.62 1.34 -0.72 -0.93 0.2 1.58 0.2 0.4 0.57 -0.64 -0.96 0.31 0.55 0.01 0.77 -1.15 0.67 0.33 -2.06 0.1 -2.68
1.25 1.62 0.85 -0.09 2.43 -1.3 -0.66 0.23 -0.92 -0.34
`,
] as const;
