import {
  CHANNELS,
  listen,
  type StrandlineEventName,
  type StrandlineEvents,
} from '../../src/events/channels.js';

export interface Heard {
  readonly name: StrandlineEventName;
  readonly message: StrandlineEvents[StrandlineEventName];
}

/** Hears all that is told of one pipeline, until the test ends it. */
export function hearAll(
  pipeline: string,
  names = Object.keys(CHANNELS) as StrandlineEventName[],
): {
  readonly heard: Heard[];
  of<Name extends StrandlineEventName>(name: Name): StrandlineEvents[Name][];
  end(): void;
} {
  const heard: Heard[] = [];
  const ends = names.map((name) =>
    listen(name, (message) => {
      if (message.pipeline === pipeline) heard.push({ name, message });
    }),
  );
  return {
    heard,
    of: <Name extends StrandlineEventName>(name: Name) =>
      heard.filter((one) => one.name === name).map(({ message }) => message as StrandlineEvents[Name]),
    end: () => {
      for (const end of ends) end();
    },
  };
}
