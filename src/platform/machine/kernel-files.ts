import { readdirSync, readFileSync } from 'node:fs'

/** Returns the names in a folder of the kernel that have this form; none where there is no such folder. */
export function namesIn(folder: string, form: RegExp): string[] {
  try {
    return readdirSync(folder).filter((name) => form.test(name))
  } catch {
    return []
  }
}

/** Reads a file of the kernel, without blanks around it; undefined where it is missing or unreadable. */
export function kernelText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return undefined
  }
}
