import JSON

/// `/health/live` and `/health/ready`: 200 if all is well, else 503, with `{"status": …, "late": […]}`.
///
/// Who restarts the gateway asks whether it is alive: the gateway's own work goes on. Who wants to know whether it does all that it should
/// asks whether it is ready, which a broker or a device that is away can deny.
package struct HealthPage: WebPage {
    /// What is asked.
    package enum Question: String, Sendable, Hashable {
        /// The event loop, which brings the question, the store and the engines take their turns.
        case live
        /// Also the broker is connected, every device was heard within its time, and no part is late.
        case ready

        /// The path of the page.
        package var path: String { "/health/\(rawValue)" }
    }

    /// How long a part of the gateway itself may not answer. A part that works answers within milliseconds, and a slow disk may take
    /// some seconds.
    package static let limit: Duration = .seconds(10)
    /// The most names in an answer: of thousands of devices that are late together, some are enough.
    package static let maximumNames = 100

    private let view: any GatewayView
    private let question: Question

    package init(of view: any GatewayView, _ question: Question) {
        self.view = view
        self.question = question
    }

    package var path: String { question.path }

    package func answer(to request: WebRequest) async -> WebAnswer {
        if let refusal = request.refusal { return refusal }
        let stuck = view.stuckParts(for: Self.limit)
        let late = question == .live ? stuck : stuck + view.late.filter { !stuck.contains($0) }
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("status", late.isEmpty ? "ok" : "late")
        writer.member("late", array: late.prefix(Self.maximumNames)) { $0.string($1) }
        writer.member("more", max(0, late.count - Self.maximumNames))
        writer.endObject()
        var answer = WebAnswer(late.isEmpty ? 200 : 503, "application/json", writer.bytes + Array("\n".utf8))
        answer.headers = [("Cache-Control", "no-store")]
        return answer
    }
}
