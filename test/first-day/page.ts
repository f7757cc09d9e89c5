import { percentile } from '../support/percentile.ts';

export interface Result {
  readonly what: string;
  readonly result: string;
}

/** The result of one measurement. */
export interface Section {
  readonly title: string;
  /** How it was measured, and its limits. */
  readonly how: string;
  readonly results: readonly Result[];
  /** Why the environment fails the row. @default it passes */
  readonly failure?: string;
}

/** A row of the report; without a section, nothing was measured. */
export interface Row {
  readonly title: string;
  readonly outcome: 'passed' | 'FAILED' | 'not asked here';
  /** Empty for a row that passed. */
  readonly why: string;
  readonly section?: Section;
}

interface Measured {
  readonly url: string;
  readonly region: string;
  readonly version: string;
  readonly began: Date;
  readonly ended: Date;
}

/** "12.1, 20.4, 31.0 ms of 200": median, p99 and maximum. */
export function timesOf(milliseconds: readonly number[]): string {
  if (milliseconds.length === 0) return 'none';
  const [p50, p99, most] = [0.5, 0.99, 1].map((share) => percentile(milliseconds, share).toFixed(1));
  return `${p50}, ${p99}, ${most} ms of ${milliseconds.length.toLocaleString('en-US')}`;
}

/** Returns the page in Markdown. It names no account, so that it can be kept with the deployment. */
export function pageOf({ url, region, version, began, ended }: Measured, rows: readonly Row[]): string {
  const blocks = [
    `# ${new URL(url).host}, measured`,
    `Schemaless ${version} in ${region}, from ${began.toISOString()} to ${ended.toISOString()}, from one machine, by \`npm run first-day\`.`,
    tableOf(
      ['row', 'outcome'],
      rows.map(({ title, ...row }) => [title, outcomeOf(row)]),
    ),
    ...rows.flatMap(({ title, section }) =>
      section
        ? [
            `## ${title}`,
            plain(section.how),
            tableOf(
              ['what', 'figure'],
              section.results.map(({ what, result }) => [what, result]),
            ),
          ]
        : [],
    ),
  ];
  return `${blocks.join('\n\n')}\n`;
}

/** "not asked here: one machine has no bill". */
export function outcomeOf({ outcome, why }: Pick<Row, 'outcome' | 'why'>): string {
  return why === '' ? outcome : `${outcome}: ${why}`;
}

function tableOf(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((text) => plain(text).replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(header), '|---|---|', ...rows.map(line)].join('\n');
}

/** Returns one line without the ARNs that AWS puts into refusals. */
function plain(text: string): string {
  return text
    .replaceAll(/arn:aws[\w-]*:\S+/gu, 'arn:…')
    .replaceAll(/\b\d{12}\b/gu, '…')
    .replaceAll(/\s+/gu, ' ');
}
