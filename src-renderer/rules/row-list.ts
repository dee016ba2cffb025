/** A list of rows below a heading of one row that stays in sight; offsets count from the first row. */
export interface RowList {
  /** The row at an offset; the first or last one beyond the ends. */
  findItemIndex(offset: number): number
  getItemOffset(index: number): number
  getItemSize(index: number): number
  scrollTo(offset: number): void
  scrollToIndex(index: number, options: { align: 'start' | 'center' }): void
}
