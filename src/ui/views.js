import { apiView } from "./api-page/api-view.js";
import { attachmentsView } from "./browse/attachments-view.js";
import { conversationsView } from "./browse/conversations-view.js";
import { decideView } from "./browse/decide-view.js";
import { overviewView } from "./browse/overview-view.js";
import { peopleView } from "./browse/people-view.js";
import { timelineView } from "./browse/timeline-view.js";
import { dataView } from "./data/data-view.js";
import { sharingView } from "./data/sharing-view.js";
import { eraseView } from "./erasure/erase-view.js";
import { moreView } from "./frame/navigation.js";
import { tourView } from "./frame/tour-view.js";
import { mapView } from "./map/map-view.js";
import { memoriesView } from "./memories/memories-view.js";
import { contextView } from "./models/context-view.js";
import { serverView } from "./server/server-view.js";
import { settingsView } from "./server/settings-view.js";
import { upkeepView } from "./server/upkeep-view.js";

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
