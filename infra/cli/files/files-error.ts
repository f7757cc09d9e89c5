/** Why an import or an export cannot begin, or go on; each with what would do. */
export type FilesErrorCode =
  | 'changed_input'
  | 'other_import'
  | 'bad_journal'
  | 'bad_mapping'
  | 'bad_input'
  | 'bad_manifest'
  | 'bad_option'
  | 'cut_log'
  | 'failed_check'
  | 'log_too_short'
  | 'no_progress'
  | 'nothing_before'
  | 'other_export'
  | 'too_many_rejects'
  | 'zstd_missing';

/** An error of files in and out: a stable code, and a message that says what was wanted, what came, and the cure. */
export class FilesError extends Error {
  readonly code: FilesErrorCode;

  constructor(code: FilesErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'FilesError';
    this.code = code;
  }
}
