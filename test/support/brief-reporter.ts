import { DefaultReporter, type TestModule } from 'vitest/node';

type RunEnd = Parameters<DefaultReporter['onTestRunEnd']>;

/** A line of progress after so many files. */
const EVERY = 25;
const SLOWEST = 10;

/** Prints progress, each file that failed, and at the end the failures, a summary and the slowest files. */
export default class BriefReporter extends DefaultReporter {
  #files = 0;
  #ended = 0;
  #failed = 0;

  override onTestRunStart(files: Parameters<DefaultReporter['onTestRunStart']>[0]): void {
    super.onTestRunStart(files);
    this.#files = files.length;
  }

  override onTestModuleEnd(file: TestModule): void {
    this.#ended += 1;
    if (file.state() === 'failed') {
      this.#failed += 1;
      super.onTestModuleEnd(file);
    }
    if (this.#files >= EVERY && this.#ended % EVERY === 0)
      this.log(`${this.#ended} of ${this.#files} files, ${this.#failed} failed`);
  }

  override onTestRunEnd(files: RunEnd[0], errors: RunEnd[1], reason: RunEnd[2]): void {
    super.onTestRunEnd(files, errors, reason);
    this.log(slowest(files).join('\n'));
  }
}

/** The slowest files and their seconds, collection and hooks included. */
function slowest(files: readonly TestModule[]): readonly string[] {
  const seconds = (file: TestModule): number => {
    const { collectDuration, duration, setupDuration } = file.diagnostic();
    return (collectDuration + duration + setupDuration) / 1000;
  };
  return files
    .toSorted((one, other) => seconds(other) - seconds(one))
    .slice(0, SLOWEST)
    .map((file) => `${seconds(file).toFixed(1).padStart(8)} s  ${file.relativeModuleId}`);
}
