/** What the keys do to the view: letters for the page, arrows for the picture, and keys that count while they are held. */
import { isForPage } from '../ui/keys.ts';
import { type Deed, deedOfLetter, deedOfPicture } from './keys.ts';
import type { View } from './view.svelte.ts';

interface Ways {
  view: View;
  well: (step: 1 | -1) => void;
  field: (step: 1 | -1) => void;
  play: () => void;
}

const HOLD_MS = 250;

export function createHands({ view, well, field, play }: Ways) {
  let holding: { key: string; since: number; timer: ReturnType<typeof setTimeout> } | undefined;

  function hold(channel: number, { key, timeStamp: since }: KeyboardEvent) {
    if (channel >= view.settings.length) return;
    holding = { key, since, timer: setTimeout(() => view.showAlone(channel), HOLD_MS) };
  }

  const DEEDS: { [Name in Deed['do']]: (deed: Extract<Deed, { do: Name }>, event: KeyboardEvent) => void } = {
    zoom: ({ factor }) => view.zoomBy(factor),
    fit: () => view.fit(),
    full: () => view.zoomTo(1),
    play,
    well: ({ step }) => well(step),
    field: ({ step }) => field(step),
    plane: ({ step }) => view.z !== 'max' && view.setPlane(view.z + step),
    time: ({ step }) => view.setTime(view.t + step),
    'plane end': ({ last }) => view.setPlane(last ? Infinity : 0),
    move: (by) => view.move(by),
    'hide labels': () => view.hideLabels(true),
    measure: () => view.measureHere(),
    'let go': () => view.setTool('move'),
    channel: ({ channel }, event) => hold(channel, event),
  };
  const perform = (deed: Deed, event: KeyboardEvent) =>
    (DEEDS[deed.do] as (deed: Deed, event: KeyboardEvent) => void)(deed, event);

  return {
    onkeydown(event: KeyboardEvent) {
      const isOnPicture =
        event.target instanceof HTMLElement && (event.target.id === 'picture' || event.target === document.body);
      const deed = (isOnPicture && deedOfPicture(event)) || (isForPage(event) ? deedOfLetter(event) : undefined);
      if (!deed) return;
      event.preventDefault();
      if (event.repeat && (deed.do === 'channel' || deed.do === 'hide labels')) return;
      perform(deed, event);
    },
    onkeyup(event: KeyboardEvent) {
      if (event.key.toLowerCase() === 'o') view.hideLabels(false);
      if (holding?.key !== event.key) return;
      const [{ timer, since }, channel] = [holding, Number(event.key) - 1];
      clearTimeout(timer);
      holding = undefined;
      view.showAlone(undefined);
      // by the times of the events: on a busy machine a timer may be late or early
      if (event.timeStamp - since < HOLD_MS) view.setChannel(channel, { shown: !view.settings[channel]!.shown });
    },
    /** Who looks at another window lets everything go. */
    onblur() {
      clearTimeout(holding?.timer);
      holding = undefined;
      view.hideLabels(false);
      view.showAlone(undefined);
    },
  };
}
