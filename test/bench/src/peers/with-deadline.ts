/** Rejects when something takes longer than so many milliseconds. */
export async function withDeadline<T>(what: string, milliseconds: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`${what} took longer than ${String(milliseconds)} ms.`));
    }, milliseconds);
  });
  return Promise.race([promise, late]).finally(() => {
    clearTimeout(timer);
  });
}
