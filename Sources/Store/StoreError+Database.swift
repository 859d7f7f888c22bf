import GRDB
import Vitals

extension StoreError {
    /// The store error for an error of SQLite or of the code around it.
    init(_ error: any Error) {
        switch error {
        case let error as StoreError: self = error
        case let error as DatabaseError: self.init(error)
        default: self.init(.unavailable, "The store failed: \(error).")
        }
    }

    private init(_ error: DatabaseError) {
        let text = error.message ?? error.resultCode.description
        switch error.resultCode {
        case .SQLITE_FULL:
            self.init(.full, "The disk is full: \(text). Make room, or lower store.outbox and store.retention.")
        case .SQLITE_CORRUPT, .SQLITE_NOTADB:
            self.init(.corrupt, "The store is damaged: \(text). It is moved aside at the next start.")
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            self.init(.unavailable, "Another program holds a lock on the store: \(text). End its transaction.")
        case .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_AUTH:
            self.init(.unavailable, "The store cannot be written: \(text). Check the owner and mode of its folder.")
        case .SQLITE_CANTOPEN:
            self.init(.unavailable, "The store cannot be opened: \(text). Check that its folder exists, and its owner.")
        case .SQLITE_MISUSE: self.init(.closed, "The store is closed.")
        default: self.init(.unavailable, "The store failed: \(text).")
        }
    }

    /// Whether the file or the disk is at fault, not one request: then every other request would fail, too.
    static func isOfFile(_ error: any Error) -> Bool {
        guard let error = error as? DatabaseError else { return error is StoreError }
        switch error.resultCode {
        case .SQLITE_CONSTRAINT, .SQLITE_MISMATCH, .SQLITE_TOOBIG, .SQLITE_RANGE, .SQLITE_ERROR: return false
        default: return true
        }
    }
}
