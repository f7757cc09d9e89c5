import type { Section } from './figure.ts';

export interface Measured {
  readonly url: string;
  readonly region: string;
  readonly version: string;
  readonly began: Date;
  readonly ended: Date;
}

/** The page, in Markdown, to be kept beside the deployment that it is of. */
export function pageOf({ url, region, version, began, ended }: Measured, sections: readonly Section[]): string {
  return [
    `# ${new URL(url).host}, measured`,
    `Schemaless ${version} in ${region}, from ${began.toISOString()} to ${ended.toISOString()}, from one machine, by \`npm run first-day\`.`,
    ...sections.flatMap(({ title, how, figures }) => [
      `## ${title}`,
      how,
      ...(figures.length === 0
        ? []
        : [
            [
              '| what | figure |',
              '|---|---|',
              ...figures.map(({ what, figure }) => `| ${cell(what)} | ${cell(figure)} |`),
            ].join('\n'),
          ]),
    ]),
    '',
  ]
    .join('\n\n')
    .trimEnd()
    .concat('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll(/\s+/gu, ' ');
}
