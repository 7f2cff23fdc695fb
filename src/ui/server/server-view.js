import { getHealth, getStats, listJobs } from "../calls.js";
import { facts } from "../memories/memory-parts.js";
import { problem } from "../parts/form-parts.js";
import { make } from "../parts/make.js";
import { moment, number } from "../parts/words.js";
import { costPart, growthPart } from "./growth-part.js";

const LOOKS = {
  ok: "good",
  up: "good",
  idle: "plain",
  scheduled: "plain",
  running: "good",
  warning: "amber",
  degraded: "amber",
  failing: "bad",
  down: "bad",
};

/** What models have cost, growth, and how the server is: checks, the services it depends on, background jobs. */
export function serverView({ user }) {
  const place = make("div", { class: "cards" });
  const element = make("div", { class: "page" }, make("h2", { tabindex: "-1" }, "Server and costs"), place);

  async function load() {
    try {
      const [health, stats, jobs, growth, costs] = await Promise.all([
        getHealth(),
        getStats(user),
        listJobs().catch((error) => ({ items: [], error })),
        growthPart(user),
        costPart(user),
      ]);
      place.replaceChildren(
        usagePart(stats, costs),
        panel("Memories, for this user", growth),
        healthPart(health),
        ...dependenciesPart(health),
        ...jobsPart(jobs, load),
      );
    } catch (error) {
      place.replaceChildren(problem(error, load));
    }
  }

  return { element, title: "Server and costs", show: load, refresh: load };
}

const stateBadge = (state) => make("span", { class: `badge ${LOOKS[state] ?? "plain"}` }, state);

function panel(title, ...parts) {
  return make("section", { class: "panel" }, make("h3", {}, title), ...parts);
}

function rows(items) {
  return make(
    "ul",
    { class: "plain-rows" },
    items.map((parts) => make("li", {}, ...parts)),
  );
}

function healthPart({ status, durability, checks = [] }) {
  return panel(
    "Health",
    make("p", {}, stateBadge(status), durability ? ` Durability: ${durability}` : ""),
    rows(checks.map(({ name, state, says }) => [stateBadge(state), make("b", {}, name), ` ${says}`])),
  );
}

/** The primary database is called `record` by the API. */
function nameOfService(kind, name) {
  const words = kind === "record" ? "primary database" : kind;
  return name ? `${words}: ${name}` : words;
}

function dependenciesPart({ dependencies = [] }) {
  if (dependencies.length === 0) return [];
  const lines = dependencies.map(({ kind, name, state, since, problem: what, lastSuccess: newest }) => [
    stateBadge(state),
    make("b", {}, nameOfService(kind, name)),
    ` since ${moment(since)}`,
    what ? `, ${what}` : "",
    newest ? `, newest ${moment(newest)}` : "",
  ]);
  return [panel("Depends on", rows(lines))];
}

function jobsPart({ items: jobs, error }, again) {
  if (error) return [panel("Background jobs", problem(error, again))];
  if (jobs.length === 0) return [];
  const lines = jobs.map(({ name, about, state, left, problem: what, last_run: last }) => [
    stateBadge(state),
    make("b", {}, name),
    ` ${about}`,
    left ? `, ${number(left)} waiting` : "",
    last ? `, last ${moment(last)}` : "",
    what ? make("span", { class: "danger-text" }, ` ${what}`) : "",
  ]);
  return [panel("Background jobs", rows(lines))];
}

function usagePart({ usage, pending }, chart) {
  return panel(
    "Costs of models, for this user",
    facts([
      ["Calls", number(usage.calls)],
      ["Failed", usage.failed > 0 ? number(usage.failed) : undefined],
      ["Tokens in", number(usage.tokens_in)],
      ["Tokens out", number(usage.tokens_out)],
      ["Cost", `$${usage.cost.toFixed(4)}`],
      ["Messages to be understood", pending > 0 ? number(pending) : undefined],
    ]),
    chart,
  );
}
