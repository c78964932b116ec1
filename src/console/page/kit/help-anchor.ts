/** Returns the id of a heading of the manual, by the rule of GitHub: `disk.low` is `disklow`, `Restore a box` is `restore-a-box`. */
export function anchorOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-')
}
