const keptAs = 'gatehouse.account'

/** Returns where the last account of this browser is from, when it is one of these; else the first. */
export function keptAccount(instances: readonly string[]): string | undefined {
  try {
    const kept = localStorage.getItem(keptAs)
    return instances.find((url) => url === kept) ?? instances[0]
  } catch {
    // A browser that stores nothing forbids to ask as well.
    return instances[0]
  }
}

/** Keeps where an account is from that signed in. */
export function keepAccount(instance: string): void {
  try {
    localStorage.setItem(keptAs, instance)
  } catch {
    // It is chosen again next time.
  }
}
