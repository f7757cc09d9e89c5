import { describe, expect, it } from 'vitest';
import { endingOf } from '../../../infra/cli/ending-of.ts';
import { FilesError } from '../../../shared/files/files-error.ts';
import { errorText } from '../../../infra/cli/show-error.ts';
import { SchemalessError } from '../../../shared/errors.ts';

describe('how a command ends', () => {
  it('is not for want of a signature where an environment goes by its deployments', () => {
    const error = new SchemalessError('goes_by_deploy', 'not here');
    expect(endingOf(error)).toBe('usage');
    expect(errorText(error)).toMatch(/^error: goes_by_deploy/u);
    expect(errorText(error)).not.toContain('Sign the request');
  });

  it('is for another body at an address where there is one, and not for a definition that stays', () => {
    for (const code of ['would_lose', 'still_defined', 'fixed_definition'] as const)
      expect(endingOf(new SchemalessError(code, 'stays'))).toBe('usage');
    expect(endingOf(new SchemalessError('conflict', 'another body'))).toBe('conflict');
  });

  it('is for no body at an address where a move cannot do what is asked of it', () => {
    expect(endingOf(new SchemalessError('move_refused', 'it has not moved yet'))).toBe('usage');
    expect(endingOf(new SchemalessError('unknown_move', 'none'))).toBe('notFound');
  });

  it('is for rejects where they were too many, since cells were stored', () => {
    expect(endingOf(new FilesError('too_many_rejects', 'too many'))).toBe('rejects');
  });
});
