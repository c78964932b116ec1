import { builderOver, integer, text } from '../database/index.ts'

export const tables = {
  health_trouble: {
    component: text,
    subject: text,
    kind: text,
    name: text,
    message: text,
    since_ms: integer,
  },
} as const

export const sql = builderOver(tables)
