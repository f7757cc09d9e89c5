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
export function pageOf({ url, region, version, began, ended }: Measured, sections: readonly Section[]): string {
  const blocks = [
    `# ${new URL(url).host}, measured`,
    `Schemaless ${version} in ${region}, from ${began.toISOString()} to ${ended.toISOString()}, from one machine, by \`npm run first-day\`.`,
    ...sections.flatMap(({ title, how, results }) => [
      `## ${title}`,
      plain(how),
      ...(results.length === 0 ? [] : [tableOf(results)]),
    ]),
  ];
  return `${blocks.join('\n\n')}\n`;
}

function tableOf(results: Section['results']): string {
  const cell = (text: string): string => plain(text).replaceAll('|', '\\|');
  const rows = results.map(({ what, result }) => `| ${cell(what)} | ${cell(result)} |`);
  return ['| what | figure |', '|---|---|', ...rows].join('\n');
}

/** Returns one line without the ARNs that AWS puts into refusals. */
function plain(text: string): string {
  return text
    .replaceAll(/arn:aws[\w-]*:\S+/gu, 'arn:…')
    .replaceAll(/\b\d{12}\b/gu, '…')
    .replaceAll(/\s+/gu, ' ');
}
