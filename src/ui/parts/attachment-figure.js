import { getAttachmentContent } from "../calls.js";
import { button } from "./form-parts.js";
import { make } from "./make.js";

/** A larger file is loaded when somebody asks for it. */
const MOST_BYTES = 2_000_000;

/** The images and recordings among the parts of a message, each as a figure. */
export function attachmentFigures(user, { parts = [] }) {
  return parts.filter(isAttachment).map((part) => attachmentFigure(user, part));
}

function isAttachment({ type, id, size, url }) {
  return (
    (type === "image" || type === "audio") && id !== undefined && (size !== undefined || url !== undefined)
  );
}

/**
 * The bytes are fetched with the page's proof, which a browser would not send for the address of an image, and shown as a
 * data URL. An address elsewhere is never loaded: it would tell that server who reads this.
 */
function attachmentFigure(user, { type, id, mediaType, size, url, description }) {
  const place = make("div", { class: "attachment-place" });
  const name = type === "image" ? "Image" : "Recording";
  const show = async () => {
    try {
      const source = await toDataUrl(await getAttachmentContent(user, id));
      place.replaceChildren(
        type === "image"
          ? make("img", { src: source, alt: description ?? "Image without a description" })
          : make("audio", { src: source, controls: true, "aria-label": description ?? "Recording" }),
      );
    } catch (error) {
      place.replaceChildren(make("p", { class: "small" }, error.message));
    }
  };
  if (size === undefined)
    place.append(
      make("a", { href: url, rel: "noreferrer noopener", target: "_blank" }, `${name} at ${hostOf(url)}`),
    );
  else if (type === "image" && size <= MOST_BYTES) show();
  else place.append(button(type === "image" ? "Show the image" : "Load the recording", show));
  const kind = mediaType === undefined ? "not kept here" : `${mediaType}, ${Math.ceil(size / 1000)} kB`;
  return make(
    "figure",
    { class: "attachment" },
    place,
    make("figcaption", { class: "small" }, `${name}, ${kind}`),
  );
}

function hostOf(url) {
  return URL.canParse(url) ? new URL(url).host : "an address";
}

function toDataUrl(blob) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result);
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(blob);
  });
}
