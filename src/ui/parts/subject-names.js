/** A person or thing in words: "user/sister/cat" is "Your sister's cat". */
export function subjectName(subject) {
  const [first, ...rest] = subject.split("/");
  if (first.toLowerCase() !== "user") return [first, ...rest].join("’s ");
  return rest.length === 0 ? "You" : `Your ${rest.join("’s ")}`;
}
