import * as z from 'zod';
import { FORMAT, pageDataSchema, type Section } from './findings.ts';
import { html, Markup } from './markup.ts';

const START = '<script type="application/json" id="findings">';
const END = '</script>';

/** The findings as the page carries them: no text of theirs can end the element, since none has a "<". */
export function embedded(sections: readonly Section[]): Markup {
  return html`${new Markup(START)}${new Markup(JSON.stringify({ format: FORMAT, sections }).replaceAll('<', String.raw`\u003c`))}${new Markup(END)}`;
}

/**
 * The findings that a page carries. Throws an Error that says what is wrong with a page that has none, has broken ones or ones
 * of another format: to write it anew would lose what is in it, so that is for whoever reads the message to decide.
 */
export function carriedBy(text: string): readonly Section[] {
  const start = text.lastIndexOf(START);
  const end = text.indexOf(END, start);
  if (start < 0 || end < 0) throw new Error('it is no page of this command, or was cut off: no findings are in it');
  let data: unknown;
  try {
    data = JSON.parse(text.slice(start + START.length, end));
  } catch (error) {
    throw new Error(`its findings are broken: ${String(error)}`, { cause: error });
  }
  const { success, data: read, error } = pageDataSchema.safeParse(data);
  if (!success) throw new Error(`its findings are not of format ${FORMAT}, or broken: ${z.prettifyError(error)}`, { cause: error });
  return read.sections;
}
