import { announce, dismiss } from './notices.ts';

/** Milliseconds that somebody has to take back what can't be undone once it is done. */
const WAIT = 10_000;

const waiting = new Set<number>();

/**
 * Does what can't be undone a little later: until then it can be taken back. Who closes the page before has not done it;
 * the browser asks.
 */
export function putOff(text: string, act: () => void, wait = WAIT): void {
  const until = Date.now() + wait;
  const end = (): void => {
    clearTimeout(timer);
    waiting.delete(id);
    dismiss(id);
  };
  const id = announce(text, until, end);
  const timer = setTimeout(() => {
    end();
    act();
  }, wait);
  waiting.add(id);
}

window.addEventListener('beforeunload', (event) => {
  if (waiting.size > 0) event.preventDefault();
});
