import GatewayKit
import GatewayTesting
import HTTPTypes
import JSON
import Listening
import Testing
import Vitals

@testable import Web

/// Who may use the API, and of whom a token sees what.
@Suite struct APIAccessTests {
    private static func token(
        _ secret: String, _ scopes: Set<APITokens.Scope> = [.read], people: Set<String>? = nil
    ) -> APITokens.Token {
        APITokens.Token(name: secret, secret: Secret(secret), scopes: scopes, people: people)
    }

    private static func bearer(_ secret: String) -> HTTPFields { [.authorization: "Bearer \(secret)"] }

    @Test func `without tokens the API is open where the page needs no password, and only there`() async throws {
        let data = try ShownData.ofTwo()
        #expect(try await ShownAPI(data).ask("devices").status == 200)
        // A proxy at this machine says that it comes from elsewhere.
        for (address, status) in [("::1", 200), ("::ffff:127.0.0.1", 200), ("192.0.2.1", 401), ("unknown", 401)] {
            #expect(try await ShownAPI(data).ask("devices", from: address).status == status)
        }
        let closed = try await ShownAPI(data, isOpen: false).ask("devices")
        #expect(closed.status == 401 && closed.code == "unauthorized")
        #expect(closed.header("WWW-Authenticate") == "Bearer")
    }

    @Test func `with a token in the configuration each request needs one, and its scopes say for what`() async throws {
        let data = try ShownData.ofTwo()
        data.set { $0.answers = [("{\"status\":\"done\"}", true)] }
        let api = try ShownAPI(data, tokens: [Self.token("reader"), Self.token("commander", [.command])])
        #expect(await api.ask("devices").status == 401)
        #expect(await api.ask("devices", Self.bearer("other")).status == 401)
        #expect(await api.ask("devices", [.authorization: "Basic reader"]).status == 401)
        #expect(await api.ask("devices", Self.bearer("reader")).status == 200)
        let refused = await api.ask("devices", Self.bearer("commander"))
        #expect(refused.status == 403 && refused.code == "forbidden")
        #expect(await api.post("devices/band-1/commands/sync", "{}", Self.bearer("reader")).status == 403)
        #expect(await api.post("devices/band-1/commands/sync", "{}", Self.bearer("commander")).status == 200)
        #expect(await api.ask("openapi.json").status == 200)
    }

    @Test func `wrong tokens are throttled, and hold up nobody whose token was right before`() throws {
        try Simulation.run(seed: 1, deadline: .hours(1)) { simulation in
            let clock = simulation.gatewayClock
            let api = try ShownAPI(try ShownData.ofTwo(), tokens: [Self.token("right")], clock: clock)
            #expect(await api.ask("devices", Self.bearer("right")).status == 200)
            for number in 0...LoginRateLimiter.errorsPerNetwork {
                _ = await api.ask("devices", Self.bearer("wrong-\(number)"))
            }
            let guess = await api.ask("devices", Self.bearer("another"))
            #expect(guess.status == 401 && guess.header("Retry-After") != nil)
            #expect(await api.ask("devices", Self.bearer("right")).status == 200)
            // From a network where it was never right, it waits like a guess.
            for number in 0...LoginRateLimiter.errorsPerNetwork {
                _ = await api.ask("devices", Self.bearer("wrong-\(number)"), from: "198.51.100.1")
            }
            #expect(await api.ask("devices", Self.bearer("right"), from: "198.51.100.1").header("Retry-After") != nil)
            try await clock.sleep(for: .minutes(2))
            #expect(await api.ask("devices", Self.bearer("right"), from: "198.51.100.1").status == 200)
        }
    }

    @Test func `a page of another site gets nothing, whatever its browser sends along`() async throws {
        let api = try ShownAPI(try ShownData.ofTwo())
        let name = try #require(HTTPField.Name("Sec-Fetch-Site"))
        for site in ["cross-site", "same-site"] { #expect(await api.ask("devices", [name: site]).status == 403) }
        for site in ["none", "same-origin"] { #expect(await api.ask("devices", [name: site]).status == 200) }
        // A form of another site can send no JSON, and none is taken as something else.
        let form = await api.ask(
            "devices/band-1/commands/sync", method: "POST", [.contentType: "text/plain"], body: "{}")
        #expect(form.status == 415 && form.code == "type")
        #expect(await api.ask("devices/band-1/commands/sync", method: "POST").status == 415)
    }

    @Test func `a token of persons sees their devices, and of shared ones what is theirs`() async throws {
        let data = try ShownData.ofTwo()
        data.set { state in
            state.samples = (0..<4).compactMap { try? ShownData.beat($0, user: $0 % 2 + 1) }
            state.answers = [("{\"status\":\"done\"}", true)]
        }
        let tokens = [
            Self.token("anna", [.read, .command], people: ["anna"]), Self.token("ben", people: ["ben"]),
            Self.token("both", [.read, .command], people: ["anna", "ben"]),
        ]
        let api = try ShownAPI(data, tokens: tokens)
        let devices = await api.ask("devices", Self.bearer("ben")).json["devices"]?.asArray ?? []
        #expect(devices.map { $0["device"]?.asString } == ["cuff"])
        #expect(devices.first?["people"]?.asObject?.map(\.key) == ["2"])
        #expect(await api.ask("devices/band-1", Self.bearer("ben")).status == 404)
        let samples = await api.ask("devices/cuff/samples?metric=heart_rate", Self.bearer("ben")).json["samples"]
        #expect(samples?.asArray?.map { $0["person"]?.asString } == ["ben", "ben"])
        #expect(await api.ask("devices/cuff/days?metric=heart_rate", Self.bearer("anna")).status == 403)
        #expect(await api.ask("devices/cuff/days?metric=heart_rate", Self.bearer("both")).status == 200)
        #expect(await api.post("devices/cuff/commands/time", "{}", Self.bearer("anna")).status == 403)
        #expect(await api.post("devices/band-1/commands/time", "{}", Self.bearer("anna")).status == 200)
        #expect(await api.post("commands/reload", "{}", Self.bearer("both")).status == 403)
    }

    @Test func `a token of a person sees of a shared device the connection, and levels and values of that person`()
        throws
    {
        let data = try ShownData.ofTwo()
        let (devices, cuff) = (data.now.devices, try ShownData.id("cuff"))
        let device = try #require(devices.first { $0.id == cuff })
        let grant = APIGrant(scopes: [.read], people: ["anna"])
        let rule = AlertRule(.heartRate, .resting, .high)
        func latest(_ user: Int?) throws -> DeviceState {
            .latest(LatestState(stored: try ShownData.beat(0, user: user), freshUntil: nil, isStale: false))
        }
        #expect(grant.sees(.availability(isOnline: true), of: device))
        #expect(grant.sees(try latest(1), of: device))
        for hidden in [try latest(2), try latest(nil), .info(device.info), .wear(WearState(at: ShownData.dawn))] {
            #expect(!grant.sees(hidden, of: device))
            #expect(APIGrant.everything.sees(hidden, of: device))
        }
        for user in [1, 2] {
            let level = AlertLevel(rule: rule, isActive: true, since: ShownData.dawn, user: user)
            #expect(grant.sees(.level(level), of: device) == (user == 1))
        }
    }
}
