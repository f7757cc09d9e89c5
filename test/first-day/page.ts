import { percentile } from '../support/percentile.ts';

export interface Figure {
  readonly what: string;
  readonly figure: string;
}

/** The result of one measurement. */
export interface Section {
  readonly title: string;
  /** How it was measured, and what it does not say. */
  readonly how: string;
  readonly figures: readonly Figure[];
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
    ...sections.flatMap(({ title, how, figures }) => [
      `## ${title}`,
      plain(how),
      ...(figures.length === 0 ? [] : [tableOf(figures)]),
    ]),
  ];
  return `${blocks.join('\n\n')}\n`;
}

function tableOf(figures: Section['figures']): string {
  const cell = (text: string): string => plain(text).replaceAll('|', '\\|');
  const rows = figures.map(({ what, figure }) => `| ${cell(what)} | ${cell(figure)} |`);
  return ['| what | figure |', '|---|---|', ...rows].join('\n');
}

/** Returns one line without the ARNs that AWS puts into refusals. */
function plain(text: string): string {
  return text
    .replaceAll(/arn:aws[\w-]*:\S+/gu, 'arn:…')
    .replaceAll(/\b\d{12}\b/gu, '…')
    .replaceAll(/\s+/gu, ' ');
}
