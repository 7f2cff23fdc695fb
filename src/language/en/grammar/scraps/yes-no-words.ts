/** How people say yes at the beginning of an answer. */
export const YES: RegExp =
  /^(?:(?:yes|yeah|yep|yup|yea|ya|aye|correct|indeed|of course|sure|absolutely|definitely|right|exactly|totally|still do|still am|(?:i|we|they) (?:do|am|are|have|did)(?=$|[,.!])|(?:he|she|it) (?:does|is|has|did)(?=$|[,.!]))(?![\p{L}'’])[,.! –—-]*)+/iu;

/** How people say no there; "not anymore" and "I don't" too. */
export const NO: RegExp =
  /^(?:(?:no(?! (?:idea|clue|way|problem|worries|one|longer|more|doubt))|nope|nah|not really|never(?! ?mind)|not at all|not (?:any ?more|any longer|now|these days)|(?:(?:i|we|they) (?:don['’]?t|haven['’]?t|didn['’]?t|can['’]?t)|(?:he|she|it) (?:doesn['’]?t|isn['’]?t|hasn['’]?t|didn['’]?t)|i['’]?m not|we['’]?re not)(?: any ?more)?(?=$|[,.!]))(?![\p{L}'’])[,.! –—-]*)+/iu;
