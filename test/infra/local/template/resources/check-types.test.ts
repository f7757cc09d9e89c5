import { describe, expect, it } from 'vitest';
import { checkTypes } from '../../../../../infra/local/template/resources/local-resources.ts';

describe('a resource that the local stack can neither run nor leave out', () => {
  it('is an error that names type, logical id and stack', () => {
    const template = {
      Resources: {
        Stream: { Type: 'AWS::Kinesis::Stream' },
        Role: { Type: 'AWS::IAM::Role' },
        Mine: { Type: 'Custom::Mine' },
        Bucket: { Type: 'AWS::S3::Bucket' },
      },
    };
    expect(() => checkTypes([{ name: 'service', folder: '/nowhere', template }])).toThrow(
      /^The local stack cannot run Stream \(AWS::Kinesis::Stream\) of service, Bucket \(AWS::S3::Bucket\) of service: /u,
    );
  });
});
