import { useEffect, useRef, useState } from 'preact/hooks';
import { shortcuts } from '../browser/session.ts';
import { isTyping } from './typing.ts';

/** What keys do in a list, beside moving in it. */
export type ListKeys<T> = Readonly<Record<string, (item: T) => unknown>>;

/** A chosen row of a list: j and k, or the arrows, move it; other keys do something with it. */
export function useCursor<T>(
  items: readonly T[],
  idOf: (item: T) => string,
  keys: ListKeys<T>,
): string | null {
  const [chosen, choose] = useState<string | null>(null);
  const latest = useRef({ items, chosen, keys });
  latest.current = { items, chosen, keys };
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      if (!shortcuts.value || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target))
        return;
      const { items: list, chosen: at, keys: does } = latest.current;
      const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
      const place = list.findIndex((item) => idOf(item) === at);
      if (step !== undefined) {
        const next = list[Math.max(0, Math.min(list.length - 1, place < 0 ? 0 : place + step))];
        if (next === undefined) return;
        event.preventDefault();
        choose(idOf(next));
        document
          .querySelector(`[data-row="${CSS.escape(idOf(next))}"]`)
          ?.scrollIntoView({ block: 'nearest' });
        return;
      }
      const item = list[place];
      const act = does[event.key];
      // A link or a button that has the focus takes Enter for itself.
      if (item === undefined || act === undefined || (event.key === 'Enter' && isPressable(event.target)))
        return;
      event.preventDefault();
      act(item);
    };
    window.addEventListener('keydown', pressed);
    return () => {
      window.removeEventListener('keydown', pressed);
    };
  }, []);
  return chosen;
}

function isPressable(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && ['A', 'BUTTON', 'SUMMARY'].includes(target.tagName);
}
