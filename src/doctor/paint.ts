import { styleCode, terminalStyles } from '../platform/index.ts'

/** Colors for a terminal; each function returns the text as it is where colors are off. */
export type Paint = Readonly<Record<'good' | 'bad' | 'hint' | 'strong', (text: string) => string>>

/** Returns colors for a terminal, and none for a pipe, for `TERM=dumb` and where NO_COLOR is set (no-color.org). */
export function paintFor(
  out: { readonly isTTY?: boolean },
  env: Record<string, string | undefined> = process.env,
): Paint {
  const isOn = out.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb'
  const painted = (style: string) => (text: string) =>
    isOn ? `${styleCode(style)}${text}${styleCode(terminalStyles.end)}` : text
  return {
    good: painted(terminalStyles.good),
    bad: painted(terminalStyles.bad),
    hint: painted(terminalStyles.hint),
    strong: painted(terminalStyles.strong),
  }
}
