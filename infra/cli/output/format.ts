export const FORMATS = ['table', 'wide', 'json', 'ndjson'] as const;
export type Format = (typeof FORMATS)[number];

export interface Surface {
  readonly isTerminal: boolean;
  readonly columns: number | undefined;
  readonly colours: boolean;
}

/** The format that was asked for, else a table for people and lines for programs. */
export function formatFor(asked: Format | undefined, { isTerminal }: Surface): Format {
  return asked ?? (isTerminal ? 'table' : 'ndjson');
}

type Environment = Readonly<Record<string, string | undefined>>;

/** What standard output is. Colours by https://no-color.org and FORCE_COLOR. */
export function surfaceOf(stream: NodeJS.WriteStream, environment: Environment): Surface {
  // Undefined where it is no terminal, whatever its type says.
  const isTerminal = (stream.isTTY as boolean | undefined) === true;
  const forced = (environment['FORCE_COLOR'] ?? '') !== '' && environment['FORCE_COLOR'] !== '0';
  const refused = (environment['NO_COLOR'] ?? '') !== '' || environment['TERM'] === 'dumb';
  return {
    isTerminal,
    columns: isTerminal ? stream.columns : undefined,
    colours: !refused && (isTerminal || forced),
  };
}
