import type { Section } from './figure.ts';

export interface Measured {
  readonly url: string;
  readonly region: string;
  readonly version: string;
  readonly began: Date;
  readonly ended: Date;
}

/** The page, in Markdown, to be kept beside the deployment that it is of: it names no account. */
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
  const rows = figures.map(({ what, figure }) => `| ${cell(what)} | ${cell(figure)} |`);
  return ['| what | figure |', '|---|---|', ...rows].join('\n');
}

function cell(text: string): string {
  return plain(text).replaceAll('|', '\\|');
}

/** In one line. What AWS refuses it tells with ARNs. */
function plain(text: string): string {
  return text
    .replaceAll(/arn:aws[\w-]*:\S+/gu, 'arn:…')
    .replaceAll(/\b\d{12}\b/gu, '…')
    .replaceAll(/\s+/gu, ' ');
}
