/**
 * Skips the file that is being collected if `SCHEMALESS_AWS` selects services that do not answer. Modules that give
 * tests the run's SQS and DynamoDB import this. Programs other than tests, such as fault runs, have their own services.
 */
if (process.env['VITEST_WORKER_ID'] !== undefined) {
  const { inject, TestRunner } = await import('vitest');
  const file = TestRunner.getCurrentSuite();
  if (inject('servers').outsideAws?.unavailable !== undefined) file.options = { ...file.options, skip: true };
}
