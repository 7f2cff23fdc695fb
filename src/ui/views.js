import { apiView } from "./api-view.js";
import { attachmentsView } from "./attachments-view.js";
import { contextView } from "./context-view.js";
import { conversationsView } from "./conversations-view.js";
import { dataView } from "./data-view.js";
import { decideView } from "./decide-view.js";
import { eraseView } from "./erase-view.js";
import { mapView } from "./map-view.js";
import { memoriesView } from "./memories-view.js";
import { moreView } from "./navigation.js";
import { overviewView } from "./overview-view.js";
import { peopleView } from "./people-view.js";
import { serverView } from "./server-view.js";
import { settingsView } from "./settings-view.js";
import { sharingView } from "./sharing-view.js";
import { timelineView } from "./timeline-view.js";
import { tourView } from "./tour-view.js";
import { upkeepView } from "./upkeep-view.js";

/**
 * How to make each view, by its name in the address. `user` gives the current user's name; `changed` runs after a change of the
 * memory; `continueIn` goes on with a conversation.
 */
export function createViews({ user, changed, continueIn }) {
  const makers = {
    memories: memoriesView,
    people: peopleView,
    decide: decideView,
    conversations: conversationsView,
    erase: eraseView,
    timeline: timelineView,
    map: mapView,
    overview: overviewView,
    attachments: attachmentsView,
    sharing: sharingView,
    context: contextView,
    upkeep: upkeepView,
    data: dataView,
    server: serverView,
    settings: settingsView,
    api: apiView,
    tour: tourView,
    more: moreView,
  };
  const toFactory = ([name, makeView]) => [name, () => makeView({ user: user(), changed, continueIn })];
  return Object.fromEntries(Object.entries(makers).map(toFactory));
}
