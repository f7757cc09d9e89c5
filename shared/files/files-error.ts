/** The reaction that an error calls for, as the exit codes of the command line have it. */
type FilesEnding = 'usage' | 'unavailable' | 'denied' | 'internal' | 'rejects';

const ENDINGS = {
  bad_input: 'usage',
  bad_journal: 'usage',
  bad_manifest: 'usage',
  bad_mapping: 'usage',
  bad_option: 'usage',
  busy_export: 'unavailable',
  changed_input: 'usage',
  cut_log: 'internal',
  log_too_short: 'unavailable',
  no_progress: 'unavailable',
  other_export: 'usage',
  other_import: 'usage',
  times_refused: 'denied',
  too_many_rejects: 'rejects',
  zstd_missing: 'usage',
} as const satisfies Record<string, FilesEnding>;

type FilesErrorCode = keyof typeof ENDINGS;

/** An error of exports and imports: a stable code, and a message that says what was wanted, what came, and the fix. */
export class FilesError extends Error {
  readonly code: FilesErrorCode;

  constructor(code: FilesErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'FilesError';
    this.code = code;
  }

  /** `usage`: change the command; `unavailable`: repeat; `denied`: lacks a right; `rejects`: cells were rejected. */
  get ending(): FilesEnding {
    return ENDINGS[this.code];
  }
}

export function listed(faults: readonly string[]): string {
  const more = faults.length > MOST_LISTED ? `, and ${faults.length - MOST_LISTED} more` : '';
  return `${faults.slice(0, MOST_LISTED).join('; ')}${more}`;
}

const MOST_LISTED = 5;
