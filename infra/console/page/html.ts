import htm from 'htm';
import { h, type VNode } from 'preact';

type Markup = (strings: TemplateStringsArray, ...values: readonly unknown[]) => VNode;

/** The package's types describe another kind of module. */
const bound = htm as unknown as { readonly bind: (make: typeof h) => Markup };

/** Turns a template of markup into Preact elements. Values become text, never markup. */
export const html = bound.bind(h);

/** Returns a listener that passes on the value of a changed field. */
export function onValue(changed: (value: string) => void): (event: Event) => void {
  return ({ target }) => changed((target as HTMLInputElement | HTMLSelectElement).value);
}
