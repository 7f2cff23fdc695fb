import { listReceipts } from "../calls.js";
import { button, emptyState, problem } from "../parts/form-parts.js";
import { make } from "../parts/make.js";
import { linkTo } from "../parts/router.js";
import { saveFile } from "../parts/saving.js";
import { counted, goneInWords, moment } from "../parts/words.js";
import { receiptParts } from "./forget.js";
import { verifyReceipts } from "./verify-receipts.js";

/** The receipts of a user, newest first, each verified in the browser. */
export function receiptList(user) {
  const place = make("div", {});
  let receipts = [];
  let results = new Map();
  let trouble;

  async function load() {
    try {
      receipts = await listReceipts(user);
      trouble = undefined;
      results = await verifyReceipts(receipts).catch((error) => {
        trouble = error.message;
        return new Map();
      });
      place.replaceChildren(...drawReceipts(receipts, results, trouble));
    } catch (error) {
      place.replaceChildren(problem(error, load));
    }
  }

  function detail(id) {
    const receipt = receipts.find((one) => one.id === id);
    const back = make("a", { href: linkTo("erase"), class: "back-link" }, "‹ All receipts");
    if (!receipt) return [back, emptyState("Not found", "No receipt has this id.")];
    return [
      back,
      make("h2", { tabindex: "-1" }, `Receipt of ${moment(receipt.at)}`),
      make("p", {}, verdict(receipt, results, trouble)),
      ...receiptParts(receipt),
      make("h3", {}, "As it was signed"),
      make("pre", { class: "code", tabindex: "0" }, JSON.stringify(receipt, null, 2)),
      button("Download", () => saveReceipt(receipt), "small-button fit"),
    ];
  }

  return {
    element: make(
      "section",
      { class: "receipts", "aria-label": "Receipts" },
      make("h3", {}, "Receipts"),
      place,
    ),
    load,
    detail,
  };
}

function drawReceipts(receipts, results, trouble) {
  if (receipts.length === 0)
    return [
      make(
        "p",
        { class: "small" },
        "Nothing has been erased yet. Each erasure leaves a signed receipt here.",
      ),
    ];
  const wrong = receipts.filter(({ id }) => results.get(id) !== undefined).length;
  const summary =
    trouble ??
    (wrong > 0
      ? `${wrong} of ${receipts.length} do not hold.`
      : `${counted(receipts.length, "receipt", "receipts")}, all verified in this browser: signature, content, and that none is missing between them.`);
  return [
    make("p", { class: trouble || wrong > 0 ? "problem" : "checked", role: "status" }, summary),
    make(
      "ul",
      { class: "receipt-rows" },
      [...receipts]
        .reverse()
        .map((receipt) =>
          make(
            "li",
            {},
            make("a", { href: linkTo("erase", receipt.id) }, goneInWords(receipt)),
            make("time", { class: "small", datetime: receipt.at }, moment(receipt.at)),
            verdict(receipt, results, trouble),
          ),
        ),
    ),
    make(
      "p",
      { class: "small" },
      "Signed with the public key ",
      make("code", { class: "long" }, receipts.at(-1).key ?? "none"),
      ". ",
      make("code", {}, "keepsake audit"),
      " prints the same.",
    ),
  ];
}

function verdict(receipt, results, trouble) {
  if (trouble) return make("span", { class: "badge plain" }, "Not checked");
  const wrong = results.get(receipt.id);
  return make("span", { class: wrong ? "badge bad" : "badge good" }, wrong ?? "Verified");
}

function saveReceipt(receipt) {
  const text = JSON.stringify(receipt, null, 2);
  saveFile(`receipt-${receipt.id}.json`, new Blob([text], { type: "application/json" }));
}
