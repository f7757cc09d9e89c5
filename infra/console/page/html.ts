import htm from 'htm';
import { h, type VNode } from 'preact';

type Markup = (strings: TemplateStringsArray, ...values: readonly unknown[]) => VNode;

/** Its types are those of another kind of module than it is. */
const bound = htm as unknown as { readonly bind: (make: typeof h) => Markup };

/** Markup in a template, as elements of Preact: what is put in is text, whatever it says. */
export const html = bound.bind(h);

/** Tells the value of a field that somebody changes. */
export function onValue(changed: (value: string) => void): (event: Event) => void {
  return ({ target }) => changed((target as HTMLInputElement | HTMLSelectElement).value);
}
