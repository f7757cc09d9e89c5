export interface Problem {
  /** Path of the file, relative to the folder of the definitions. */
  readonly file: string;
  /** 1 is the first line; 0 where the file as a whole is meant. */
  readonly line: number;
  readonly message: string;
}

/** Everything that is wrong with a folder of definitions, at once. */
export class DefinitionsError extends Error {
  readonly problems: readonly Problem[];

  constructor(folder: string, problems: readonly Problem[]) {
    const lines = problems.map(({ file, line, message }) => `  ${file}${line > 0 ? `:${line}` : ''}: ${message}`);
    super(
      `${problems.length === 1 ? '1 problem' : `${problems.length} problems`} in the definitions in ${folder}:\n${lines.join('\n')}`,
    );
    this.name = 'DefinitionsError';
    this.problems = problems;
  }
}
