import { createHash } from 'node:crypto'

/**
 * Returns the Content-Security-Policy of a page for people: no script, no file from anywhere, and this one style sheet only.
 * @param formAction where its form may go
 */
export function printedPagePolicy(style: string, formAction = "'none'"): string {
  return [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
    "base-uri 'none'",
    `form-action ${formAction}`,
    "frame-ancestors 'none'",
  ].join('; ')
}
