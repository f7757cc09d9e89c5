import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { link } from './address.ts';
import { html } from './html.ts';
import { ShortKey, Time } from './parts.ts';
import { countText } from './text.ts';

interface Column<Item> {
  readonly header: string;
  readonly value: (item: Item, position: number) => ComponentChildren;
  /** A CSS width. */
  readonly width: string;
  /** Shrinks on a narrow screen, and wraps its text. @default false */
  readonly gives?: boolean;
  readonly isNumber?: boolean;
}

type Shown = Pick<Column<unknown>, 'gives' | 'isNumber'>;

export function column<Item>(
  header: string,
  width: string,
  value: Column<Item>['value'],
  shown: Shown = {},
): Column<Item> {
  return { header, width, value, ...shown };
}

export function counts<Item>(
  header: string,
  width: string,
  count: (item: Item) => number | null | undefined,
): Column<Item> {
  return column(header, width, (item) => countText(count(item)), { isNumber: true });
}

/** A link that `j` and `k` go to. */
export function links<Item>(
  header: string,
  width: string,
  of: (item: Item) => readonly [text: ComponentChildren, href: string],
  shown?: Shown,
): Column<Item> {
  const value = (item: Item) => {
    const [text, href] = of(item);
    return html`<a data-item href=${href}>${text}</a>`;
  };
  return column(header, width, value, shown);
}

/** Links row keys to their rows. `at` is the added id of a cell to select. */
export function rowKeys<Item extends { readonly row_key: string }>(
  header: string,
  at: (item: Item) => Readonly<Record<string, string | number | undefined>> = () => ({}),
): Column<Item> {
  return links(header, 'var(--key)', (item) => [
    html`<${ShortKey} text=${item.row_key} />`,
    link(['row', item.row_key], at(item)),
  ]);
}

export function times<Item>(header: string, at: (item: Item) => string | null | undefined): Column<Item> {
  return column(header, '14ch', (item) => html`<${Time} at=${at(item)} />`);
}

interface TableProps<Item> {
  readonly label: string;
  readonly items: readonly Item[];
  readonly columns: readonly Column<Item>[];
  readonly keyOf: (item: Item) => string;
  /** The text of an empty table. @default None. */
  readonly empty?: string;
  readonly isChosen?: (item: Item) => boolean;
  /** Scrolls with new rows while the user is at the end. @default false */
  readonly follows?: boolean;
}

const ROW_PX = 30;
const LEAST_WIDTH = '18ch';
/** The width next to the rows, for lines and a scroll bar. */
const NEXT_TO = '18px';
const WHOLE = 60;
const MARGIN = 12;

/**
 * Shows a table of any length. A long one renders only the visible rows, of one line each; a click on a row shows its
 * whole text. On a phone, the rows of a short one become blocks.
 */
function Table<Item>(props: TableProps<Item>) {
  const { label, items, columns, keyOf, empty = 'None.', isChosen, follows = false } = props;
  const frame = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState({ top: 0, height: 600 });
  const [open, setOpen] = useState<string>();
  const atEnd = useRef(true);
  const look = (): void => {
    if (!frame.current) return;
    const { scrollTop, clientHeight: height, scrollHeight } = frame.current;
    atEnd.current = scrollTop + height >= scrollHeight - ROW_PX * 2;
    const top = Math.floor(scrollTop / ROW_PX);
    setSeen((before) => (before.top === top && before.height === height ? before : { top, height }));
  };
  useEffect(look, [items.length]);
  useLayoutEffect(() => {
    if (follows && atEnd.current && frame.current) frame.current.scrollTop = frame.current.scrollHeight;
  });
  if (items.length === 0) return html`<p class="quiet">${empty}</p>`;
  const isWhole = items.length <= WHOLE;
  const from = isWhole ? 0 : Math.max(0, Math.min(seen.top - MARGIN, items.length - 1));
  const to = isWhole ? items.length : Math.min(items.length, seen.top + Math.ceil(seen.height / ROW_PX) + MARGIN);
  const least = columns.map(({ width, gives }) => (gives ? LEAST_WIDTH : width)).join(' + ');
  const desired = columns.map(({ width }) => width).join(' + ');
  const gap = (key: string, rows: number) =>
    rows > 0 &&
    html`<tr key=${key} aria-hidden="true" class="gap"><td colspan=${columns.length} style=${{ height: `${rows * ROW_PX}px` }}></td></tr>`;
  const row = (item: Item, position: number) => {
    const key = keyOf(item);
    const isOpen = isWhole || key === open;
    return html`<tr key=${key} aria-rowindex=${position + 2} class=${`${isChosen?.(item) ? 'chosen' : ''} ${isOpen ? 'open' : ''}`} onClick=${() => setOpen(key)}>
      ${columns.map(({ header, value, isNumber }) => {
        const shown = value(item, position);
        return html`<td class=${isNumber ? 'number' : ''} data-label=${header} title=${!isOpen && typeof shown === 'string' ? shown : undefined}>${shown}</td>`;
      })}
    </tr>`;
  };
  return html`<div class=${isWhole ? 'table whole' : 'table'} ref=${frame} style=${{ maxWidth: `calc(${desired} + ${NEXT_TO})` }} onScroll=${look} tabindex="0" role="region" aria-label=${label}>
    <table aria-rowcount=${items.length + 1} style=${{ minWidth: `calc(${least})` }}>
      <caption class="unseen">${label}</caption>
      <colgroup>${columns.map(({ width, gives }) => html`<col style=${gives ? {} : { width }} />`)}</colgroup>
      <thead><tr aria-rowindex="1">${columns.map(({ header, isNumber }) => html`<th scope="col" class=${isNumber ? 'number' : ''}>${header}</th>`)}</tr></thead>
      <tbody>${gap('above', from)}${items.slice(from, to).map((item, at) => row(item, from + at))}${gap('below', items.length - to)}</tbody>
    </table>
  </div>`;
}

/** Returns a table as typed markup. */
export function table<Item>(props: TableProps<Item>) {
  return html`<${Table} ...${props} />`;
}
