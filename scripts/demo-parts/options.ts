/** Options of `scripts/demo`. */
export const demoOptions = {
  once: { type: 'boolean' },
  disaster: { type: 'boolean' },
  bare: { type: 'boolean' },
  command: { type: 'string' },
  hub: { type: 'boolean' },
  port: { type: 'string' },
  postgres: { type: 'string' },
} as const
