/**
 * Imported by whatever gives tests the run's SQS and DynamoDB: the file that is being collected, whose tests talk to
 * them, is skipped where `SCHEMALESS_AWS` wishes for services that do not answer. Programs beside the tests, fault runs
 * for instance, have services of their own.
 */
if (process.env['VITEST_WORKER_ID'] !== undefined) {
  const { inject, TestRunner } = await import('vitest');
  const file = TestRunner.getCurrentSuite();
  if (inject('servers').outsideAws?.away !== undefined) file.options = { ...file.options, skip: true };
}
