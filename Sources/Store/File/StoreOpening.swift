/// The state of the path when the store was opened.
package enum StoreOpening: Sendable, Hashable {
    /// There was no store: it is new.
    case new
    /// The existing store is used.
    case existing
    /// The old store was damaged and is now at this path: the store is new, with a new identity. Undelivered data of
    /// the old one is lost; the gateway announces gaps with reason `store_reset`.
    case replacedCorrupt(path: String)
    /// A copy was put in the place of another store, which is now at this path (`nil` if there was none): the store has a
    /// new identity. What the other one had after the copy is lost; the gateway announces gaps with reason `store_reset`.
    case restored(path: String?)
}
