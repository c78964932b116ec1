/** Colors for a terminal; each function returns the text as it is where colors are off. */
export type Paint = Readonly<Record<'good' | 'bad' | 'hint' | 'strong', (text: string) => string>>

const codes = { good: '32', bad: '31', hint: '33', strong: '1' } as const

/** Returns colors for a terminal, and none for a pipe, for `TERM=dumb` and where NO_COLOR is set (no-color.org). */
export function paintFor(
  out: { readonly isTTY?: boolean },
  env: Record<string, string | undefined> = process.env,
): Paint {
  const isOn = out.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb'
  const painted = (code: string) => (text: string) => (isOn ? `\u001b[${code}m${text}\u001b[0m` : text)
  return {
    good: painted(codes.good),
    bad: painted(codes.bad),
    hint: painted(codes.hint),
    strong: painted(codes.strong),
  }
}
