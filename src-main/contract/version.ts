/** The version in package.json, held equal by a test. */
export const VERSION = '0.1.0'
