import { render } from 'preact';
import { App } from './app.tsx';
import { follow } from './state/live.ts';

const root = document.getElementById('app');
if (root !== null) {
  root.replaceChildren();
  render(<App />, root);
  void follow();
}
