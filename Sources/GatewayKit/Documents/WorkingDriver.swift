/// A driver of documents that also has work of its own, such as a file to read, for which its session begins without a document.
package protocol WorkingDriver: DeviceDriver {
    /// Whether it ever has.
    var mayHaveWork: Bool { get }
    /// Returns when there is work, or the task is cancelled. The gateway calls it while no session is open.
    func waitForWork(context: SessionContext) async
}
