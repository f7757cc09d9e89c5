/** A stand-in for the function of a trigger that takes its time. */
export async function handler(): Promise<void> {
  console.log('began');
  await new Promise((resolve) => setTimeout(resolve, 1500));
  console.log('ended');
}
