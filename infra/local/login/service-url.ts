/** Returns the SDK variable's URL of an outside service. Throws an Error that names an invalid one. */
export function serviceUrl(variable: `AWS_ENDPOINT_URL_${string}`): string | undefined {
  const url = process.env[variable];
  if (url === undefined || url === '') return undefined;
  if (!/^https?:\/\//u.test(url) || !URL.canParse(url))
    throw new Error(`${variable}: wanted a URL such as http://127.0.0.1:4566, got ${JSON.stringify(url)}`);
  return url.replace(/\/$/u, '');
}
