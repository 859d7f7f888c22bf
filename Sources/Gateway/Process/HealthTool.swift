import Listening
import Web

/// `vitals2mqtt health`: asks the gateway that runs with a configuration on this machine how it is.
package struct HealthTool: Sendable {
    private let file: String
    private let loader: ConfigurationLoader

    /// Asks the gateway that runs with this configuration file.
    package init(of file: String, with loader: ConfigurationLoader) {
        self.file = file
        self.loader = loader
    }

    /// The gateway's answer, one line of JSON.
    /// - Parameter isReady: whether broker, devices and all that is late count, too.
    /// - Throws: `ToolFailure` if it is not well, with its answer, or if none answers.
    package func ask(isReady: Bool) async throws(ToolFailure) -> String {
        let configuration: GatewayConfiguration
        do throws(ConfigurationError) { configuration = try loader.load(file) } catch {
            throw ToolFailure(error.text(file: file))
        }
        guard let web = configuration.web else {
            throw ToolFailure(
                "\(file) has no web: section, so the gateway does not listen. Add web: {listen: \(WebConfiguration.defaultAddress)}."
            )
        }
        let question = isReady ? HealthPage.Question.ready : .live
        let answer: (status: Int, body: String)
        do throws(ListenError) { answer = try await LocalClient(web.listen).get(question.path) } catch {
            throw ToolFailure(error.description)
        }
        let text = answer.body.split(separator: "\n").first.map(String.init) ?? "Status \(answer.status)."
        guard answer.status == 200 else { throw ToolFailure(text) }
        return text
    }
}
