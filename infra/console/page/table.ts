import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { html } from './html.ts';
import { Time } from './parts.ts';
import { countText } from './text.ts';

interface Column<Item> {
  readonly header: string;
  readonly value: (item: Item, position: number) => ComponentChildren;
  /** Of CSS. */
  readonly width: string;
  /** Takes less where the screen is narrow: what it says is cut off. @default false */
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
  of: (item: Item) => readonly [text: string | number, href: string],
  shown?: Shown,
): Column<Item> {
  const value = (item: Item) => {
    const [text, href] = of(item);
    return html`<a data-item href=${href}>${text}</a>`;
  };
  return column(header, width, value, shown);
}

export function times<Item>(
  header: string,
  width: string,
  at: (item: Item) => string | null | undefined,
): Column<Item> {
  return column(header, width, (item) => html`<${Time} at=${at(item)} />`);
}

interface TableProps<Item> {
  readonly label: string;
  readonly items: readonly Item[];
  readonly columns: readonly Column<Item>[];
  readonly keyOf: (item: Item) => string;
  /** @default there are none, it says */
  readonly empty?: string;
  readonly isChosen?: (item: Item) => boolean;
  /** Stays at its end while it grows, as long as somebody looks there. @default false */
  readonly follows?: boolean;
}

const ROW_PX = 30;
const LEAST_WIDTH = '18ch';
/** Of what stands beside the rows: lines, and a bar to scroll by. */
const BESIDE = '18px';
const WHOLE = 60;
const MARGIN = 12;

/** A table of any length, of which no more rows are there than are seen. */
function Table<Item>(props: TableProps<Item>) {
  const { label, items, columns, keyOf, empty = 'None.', isChosen, follows = false } = props;
  const frame = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState({ top: 0, height: 600 });
  const atEnd = useRef(true);
  const look = (): void => {
    const { scrollTop, clientHeight, scrollHeight } = frame.current ?? {
      scrollTop: 0,
      clientHeight: 600,
      scrollHeight: 0,
    };
    atEnd.current = scrollTop + clientHeight >= scrollHeight - ROW_PX * 2;
    const top = Math.floor(scrollTop / ROW_PX);
    setSeen((before) =>
      before.top === top && before.height === clientHeight ? before : { top, height: clientHeight },
    );
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
  const wished = columns.map(({ width }) => width).join(' + ');
  return html`<div class="table" ref=${frame} style=${{ maxWidth: `calc(${wished} + ${BESIDE})` }} onScroll=${look} tabindex="0" role="region" aria-label=${label}>
    <table aria-rowcount=${items.length + 1} style=${{ minWidth: `calc(${least})` }}>
      <caption class="unseen">${label}</caption>
      <colgroup>${columns.map(({ width, gives }) => html`<col style=${gives ? {} : { width }} />`)}</colgroup>
      <thead><tr aria-rowindex="1">${columns.map(({ header, isNumber }) => html`<th scope="col" class=${isNumber ? 'number' : ''}>${header}</th>`)}</tr></thead>
      <tbody>
        ${from > 0 && html`<tr key="above" aria-hidden="true" class="gap"><td colspan=${columns.length} style=${{ height: `${from * ROW_PX}px` }}></td></tr>`}
        ${items.slice(from, to).map(
          (
            item,
            position,
          ) => html`<tr key=${keyOf(item)} aria-rowindex=${from + position + 2} class=${isChosen?.(item) ? 'chosen' : ''}>
            ${columns.map(({ value, isNumber }) => html`<td class=${isNumber ? 'number' : ''}>${value(item, from + position)}</td>`)}
          </tr>`,
        )}
        ${to < items.length && html`<tr key="below" aria-hidden="true" class="gap"><td colspan=${columns.length} style=${{ height: `${(items.length - to) * ROW_PX}px` }}></td></tr>`}
      </tbody>
    </table>
  </div>`;
}

/** The same as a part of markup, with its types. */
export function table<Item>(props: TableProps<Item>) {
  return html`<${Table} ...${props} />`;
}
