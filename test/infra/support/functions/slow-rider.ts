export async function handler(): Promise<void> {
  console.log('began');
  await new Promise((resolve) => setTimeout(resolve, 1500)); // Clock: a function that takes its time
  console.log('ended');
}
